/**
 * The commands of a laboratory, for `phm-lab` and for `phm`: they parse, call and print. What they judge by is in the other
 * folders.
 */
import type { Command } from 'commander';
import { addAssessAisCommand } from './ais-command.ts';
import { addAssessCommand } from './assess-command.ts';
import { addAssessConditioningCommand } from './conditioning-command.ts';
import type { LabContext } from './context.ts';
import { addAssessEntropyCommand } from './entropy-command.ts';

export type { LabContext } from './context.ts';
export { addTestbenchCommand } from './testbench-command.ts';

/** Adds the commands that assess. `onExitCode` receives the exit code of those that report a verdict by it. */
export function addAssessCommands(
  program: Command,
  context: LabContext,
  onExitCode: (exitCode: number) => void,
): void {
  addAssessCommand(program, context, onExitCode);
  addAssessEntropyCommand(program, context, onExitCode);
  addAssessConditioningCommand(program, context);
  addAssessAisCommand(program, context, onExitCode);
}

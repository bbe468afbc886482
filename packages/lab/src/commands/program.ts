/** The command line of `phm-lab`: parse → checked options → run → report. Data goes to stdout, messages go to stderr. */
import { CommanderError } from 'commander';
import {
  CommandError,
  newProgram,
  parseCommand,
  safeOutput,
  type Write,
} from '../../../platform/src/commands/index.ts';
import { KernelsError } from '../../../sp800-22/src/node.ts';
import type { LabContext } from './context.ts';
import { addAssessCommands, addTestbenchCommand } from './index.ts';

const DESCRIPTION = 'test random bits by SP 800-22, SP 800-90B and AIS 20/31';

/** What the process gives its command line. */
interface LabProcess extends Omit<LabContext, 'out' | 'err' | 'outText' | 'errDetail' | 'status'> {
  readonly version: string;
  /** Writes to standard output, and `err` to standard error, what is ready to be shown. */
  readonly out: Write;
  readonly err: Write;
}

/** Runs one command line, without program and script. Resolves with the exit code: 0, 1 or 2. */
export async function runLab(args: readonly string[], given: LabProcess): Promise<number> {
  const context: LabContext = { ...given, ...safeOutput(given.out, given.err) };
  let exitCode = 0;
  const program = newProgram({ ...given, description: DESCRIPTION }, context);
  addAssessCommands(program, context, (code) => {
    exitCode = code;
  });
  addTestbenchCommand(program, context);
  try {
    await parseCommand(program, args);
    return exitCode;
  } catch (error) {
    return report(error, context);
  }
}

/** Writes why a command failed and returns its exit code. Throws an unexpected error. */
function report(error: unknown, { name, err }: LabContext): number {
  // Commander has written its own message. Its exit code is 0 after --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof KernelsError) err(`${name}: ${error.message}`);
  else if (error instanceof CommandError) {
    const [first = '', ...others] = error.lines;
    err(`${name}: ${first}`, ...others);
  } else throw error;
  return error instanceof CommandError ? error.exitCode : 1;
}

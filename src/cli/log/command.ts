/** `phm log`: starts, shows, checks, copies and recovers the transparency log. Each command has its own file. */
import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { addCheckCommand } from './check.ts';
import { addCopyCommand } from './copy-database.ts';
import { addInitCommand } from './init.ts';
import { addRecoverCommand } from './recover.ts';
import { addShowCommand } from './show.ts';

export function addLogCommands(program: Command, context: CliContext): void {
  const log = program
    .command('log')
    .description('start, show, check, copy and recover the transparency log');
  addInitCommand(log, context);
  addShowCommand(log, context);
  addCheckCommand(log, context);
  addCopyCommand(log, context);
  addRecoverCommand(log, context);
}

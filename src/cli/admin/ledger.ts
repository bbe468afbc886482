/** `phm ledger`: maintenance of the ledger. Each command has its own file. */
import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { addBackupCommands } from './ledger-backup.ts';
import { addFindCommand } from './ledger-find.ts';
import { addPruneCommand } from './ledger-prune.ts';
import { addVerifyCommand } from './ledger-verify.ts';

export function addLedgerCommands(program: Command, context: CliContext): void {
  const ledger = program
    .command('ledger')
    .description('back up, restore, verify, search and prune the ledger');
  addPruneCommand(ledger, context);
  addFindCommand(ledger, context);
  addBackupCommands(ledger, context);
  addVerifyCommand(ledger, context);
}

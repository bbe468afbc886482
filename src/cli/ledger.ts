/** `phm ledger`: what an operator does with the ledger itself. */
import type { Command } from 'commander';
import { MAX_RETENTION_DAYS } from '../config/index.ts';
import { DAY_MS } from '../ledger/index.ts';
import { CommandError } from './command-error.ts';
import { type CliContext, requireConfig, writeJson } from './context.ts';
import { addBackupCommands } from './ledger-backup.ts';
import { addFindCommand } from './ledger-find.ts';
import { addVerifyCommand } from './ledger-verify.ts';
import { parseCount } from './parse-count.ts';
import { withStore, withStoreToRead } from './store.ts';

interface PruneOptions {
  olderThan?: number;
  dryRun?: boolean;
  json?: boolean;
}

export function addLedgerCommands(program: Command, context: CliContext): void {
  const ledger = program
    .command('ledger')
    .description('back up, restore, verify, search and prune the ledger');
  ledger
    .command('prune')
    .description('remove rows of old keys, for good; servers may run meanwhile')
    .option('--older-than <days>', 'days; left out: PHM_RETENTION_DAYS', parseCount)
    .option('--dry-run', 'count what would go, and remove nothing')
    .option('--json', 'write the result as JSON')
    .action((options) => prune(context, options));
  addFindCommand(ledger, context);
  addBackupCommands(ledger, context);
  addVerifyCommand(ledger, context);
}

async function prune(context: CliContext, options: PruneOptions): Promise<void> {
  const days = options.olderThan ?? requireConfig(context).retentionDays;
  if (days === null) {
    throw new CommandError('say how old with --older-than, or set PHM_RETENTION_DAYS', 2);
  }
  if (days > MAX_RETENTION_DAYS) {
    throw new CommandError(`--older-than takes at most ${MAX_RETENTION_DAYS} days`, 2);
  }
  const nowMs = Date.now();
  const dryRun = options.dryRun ?? false;
  const withOneStore = dryRun ? withStoreToRead : withStore;
  const { rows, minuteSums, partitions } = await withOneStore(context, (store) =>
    store.prune({ beforeMs: nowMs - days * DAY_MS, nowMs, dryRun }),
  );
  if (options.json) {
    writeJson(context, { days, dry_run: dryRun, rows, minute_sums: minuteSums, partitions });
    return;
  }
  const whole = partitions.length > 0 ? ` (${partitions.join(', ')} as a whole)` : '';
  const verb = dryRun ? 'Would remove' : 'Removed';
  context.err(
    `${verb} ${rows} rows older than ${days} days${whole} and ${minuteSums} sums by minute.\n`,
  );
}

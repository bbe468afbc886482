/** `phm ledger prune`: removes the rows of old keys. */

import type { Command } from 'commander';
import { CommandError, parseCount, writeJson } from '#platform/commands';
import { DAY_MS, formatTimestamp, systemClock } from '../../clock.ts';
import { type Config, MAX_RETENTION_DAYS } from '../../config/index.ts';
import { type LedgerStore, type PruneReport, storeLocation } from '../../ledger/index.ts';
import { type CliContext, requireConfig } from '../context.ts';
import { auditOf, openMaker } from './audit-record.ts';
import { plural } from './row-counts.ts';
import { withStore, withStoreToRead } from './with-store.ts';

const NOTHING = { rows: 0, minuteSums: 0, partitions: [], beforeMs: null, isPartial: false };

const NOTHING_TOO_OLD =
  'No rows are removed, because neither --older-than nor PHM_RETENTION_DAYS sets a retention.\n';

interface PruneOptions {
  olderThan?: number;
  dryRun?: boolean;
  acceptClock?: boolean;
  json?: boolean;
}

export function addPruneCommand(ledger: Command, context: CliContext): void {
  ledger
    .command('prune')
    .description('remove rows of old keys permanently, at most the oldest 31 days; servers may run')
    .option('--older-than <days>', 'age in days; default: PHM_RETENTION_DAYS', parseCount)
    .option('--dry-run', 'count all old rows and remove nothing')
    .option('--accept-clock', "declare this machine's clock right, although the ledger disagrees")
    .option('--json', 'write the result as JSON')
    .action((options) => prune(context, options));
}

async function prune(context: CliContext, options: PruneOptions): Promise<void> {
  const days = options.olderThan ?? requireConfig(context).retentionDays;
  const { acceptClock = false, dryRun = false } = options;
  if (acceptClock) requireEmbeddedStore(context);
  if (days === null && acceptClock) return acceptClockAlone(context, options);
  if (days === null) {
    throw new CommandError('there is no retention: use --older-than, or set PHM_RETENTION_DAYS', 2);
  }
  if (days > MAX_RETENTION_DAYS) {
    throw new CommandError(`--older-than is too long: use at most ${MAX_RETENTION_DAYS} days`, 2);
  }
  const order = { keepMs: days * DAY_MS, clock: systemClock, dryRun, acceptClock };
  const report = dryRun
    ? await withStoreToRead(context, (store) => store.prune(order))
    : await withStore(context, (store, config) => pruneAndRecord(store, config, order));
  if (!options.json) {
    context.err(...describePruned(report, days, dryRun));
    return;
  }
  writeReport(context, report, days, dryRun);
}

/** Prunes, then records up to which time. The monitor of the log accepts missing rows only before a recorded time. */
async function pruneAndRecord(
  store: LedgerStore,
  config: Config,
  order: Parameters<LedgerStore['prune']>[0],
): Promise<PruneReport> {
  // Without the master secret nothing could be recorded afterwards.
  const { macs } = (await openMaker(store, config)) ?? {};
  macs?.destroy();
  const report = await store.prune(order);
  if (report.rows === 0 && report.partitions.length === 0) return report;
  const details = { before: formatTimestamp(report.beforeMs), rows: report.rows };
  await store.addAudit(
    await auditOf(store, config, { atMs: Date.now(), action: 'pruned', details }),
  );
  return report;
}

/** Accepts the clock without pruning: it may be in doubt even without a retention. */
async function acceptClockAlone(
  context: CliContext,
  { dryRun = false, json = false }: PruneOptions,
): Promise<void> {
  const withOneStore = dryRun ? withStoreToRead : withStore;
  await withOneStore(context, async (store) => {
    if (!dryRun) await store.acceptClock(systemClock);
  });
  if (json) writeReport(context, NOTHING, null, dryRun);
  else context.err(`${dryRun ? 'Would accept' : 'Accepted'} the clock. ${NOTHING_TOO_OLD}`);
}

function writeReport(
  context: CliContext,
  {
    rows,
    minuteSums,
    partitions,
    beforeMs,
    isPartial,
  }: Omit<PruneReport, 'beforeMs'> & {
    beforeMs: number | null;
  },
  days: number | null,
  dryRun: boolean,
): void {
  writeJson(context, {
    days,
    dry_run: dryRun,
    rows,
    minute_sums: minuteSums,
    partitions,
    before: beforeMs === null ? null : formatTimestamp(beforeMs),
    partial: isPartial,
  });
}

/** Throws `CommandError` with PostgreSQL, whose own clock decides. */
function requireEmbeddedStore(context: CliContext): void {
  if (storeLocation(requireConfig(context)).kind === 'sqlite') return;
  throw new CommandError(
    "--accept-clock is for SQLite only: with PostgreSQL the database's clock decides. Correct any clock that differs " +
      'from it',
    2,
  );
}

function describePruned(report: PruneReport, days: number, dryRun: boolean): string[] {
  const { rows, minuteSums, partitions, beforeMs, isPartial } = report;
  const whole = partitions.length > 0 ? ` (${partitions.join(', ')} as a whole)` : '';
  const age = `${days} ${plural(days, 'day')}`;
  const sums = `${minuteSums} ${plural(minuteSums, 'sum')} by minute`;
  const what = `${rows} ${plural(rows, 'row')} older than ${age}${whole} and ${sums}.`;
  const first = `${dryRun ? 'Would remove' : 'Removed'} ${what}`;
  if (!isPartial) return [first];
  const until = new Date(beforeMs).toISOString();
  if (dryRun) {
    return [
      first,
      'One run removes at most the oldest 31 days, so this takes several runs. The first removes ' +
        `rows from before ${until}.`,
    ];
  }
  return [
    first,
    `This run removed rows from before ${until}, because one run removes at most the oldest 31 days. Rows older than ` +
      `${age} remain: run it again, or leave them to the servers, which prune once a day.`,
  ];
}

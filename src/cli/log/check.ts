/** `phm log check`: the monitor of a log, from outside or beside its database. */

import type { Command } from 'commander';
import { CommandError, untilInterrupted, writeJson } from '#platform/commands';
import { encodeBase64 } from '#tlog';
import { checkDatabase, type DatabaseReport } from '../../inspection/index.ts';
import type { Finding } from '../../ledger/admin.ts';
import type { LogRecord } from '../../ledger/index.ts';
import { counted } from '../admin/row-counts.ts';
import { withStoreToRead } from '../admin/with-store.ts';
import type { CliContext } from '../context.ts';
import { tellFindings } from '../findings.ts';
import { pastTime } from '../parse-time.ts';
import { checkPlace, type PlaceReport } from './check-place.ts';
import { findMacs, readKnown } from './known.ts';
import { requireLogs } from './open-log.ts';
import { readSeen, writeSeen } from './seen.ts';

const HELP = `
PLACE is the address of a log, such as https://keys.example/log, or a folder with a copy of one. The command reads all of
its tiles, recomputes the root, verifies the signatures, and checks that the log contains the checkpoint of the last run.
Run it daily on a machine that the operator of the log does not control.

Without PLACE the command checks the logs in the database of the server: also every row has its entry and matches it, and
every entry has its row unless that was pruned. Servers may run.
Exit code: 0 no findings, 1 findings or failed, 2 wrong usage.

Examples:
  phm log check
  phm log check https://keys.example/log --copy /var/lib/phm-copy
`;

interface CheckOptions {
  readonly copy?: string;
  readonly state?: string;
  readonly policy?: string;
  readonly since?: number;
  readonly json?: boolean;
}

export function addCheckCommand(log: Command, context: CliContext): void {
  log
    .command('check')
    .argument('[place]', "address or folder of a log; default: the server's database")
    .description('check a log: tree, signatures, consistency, and beside a database its rows')
    .option('--copy <folder>', 'keep a copy of checkpoint, tiles and entries in a folder')
    .option(
      '--state <file>',
      'checkpoint that the log must contain, replaced by the new one; default: a file for each log in the home directory',
    )
    .option(
      '--policy <file>',
      "trust this policy; default: that of the first check, which is the log's own",
    )
    .option(
      '--since <time>',
      'report rows without a statement from this time on; default: from the first logged key on',
      pastTime('--since'),
    )
    .option('--json', 'write the result as JSON')
    .addHelpText('after', HELP)
    .action((place: string | undefined, options: CheckOptions) =>
      place === undefined ? checkOwn(context, options) : checkOther(context, place, options),
    );
}

async function checkOther(
  context: CliContext,
  place: string,
  options: CheckOptions,
): Promise<void> {
  if (options.since !== undefined) {
    throw new CommandError(
      '--since is for rows of the database: leave it out, or leave out PLACE',
      2,
    );
  }
  const { since, json, ...order } = options;
  const report = await withProgress(context, (signal, onProgress) =>
    checkPlace(context, { ...order, place, signal, onProgress }),
  );
  if (json) writeJson(context, placeJson(report));
  else tellPlace(context, report);
  requireNone(report.findings.list);
}

async function checkOwn(context: CliContext, options: CheckOptions): Promise<void> {
  const { state, json } = options;
  if (options.copy !== undefined || options.policy !== undefined) {
    throw new CommandError(
      '--copy and --policy need the address or the folder of a log; the database has its own keys',
      2,
    );
  }
  const seen = state === undefined ? null : readSeen(state);
  const report = await withStoreToRead(context, (store, config) =>
    withProgress(context, async (signal, onProgress) => {
      // Before the logs: a running server may publish in between, and then the database is the newer one.
      const known = readKnown(config);
      const missingState = known.length > 0 ? null : config.log.stateFile;
      if (seen && state !== undefined) known.push({ name: state, note: seen.checkpoint });
      const logs = await store.logs();
      requireLogs(logs);
      const macs = await findMacs(store, config);
      const { intervalMs } = config.log;
      const order = { store, logs, known, macs, intervalMs, nowMs: Date.now(), signal, onProgress };
      const compared = checkDatabase({ ...order, sinceMs: options.since ?? null });
      return { logs, missingState, ...(await compared.finally(() => macs?.destroy())) };
    }),
  );
  if (json) writeJson(context, databaseJson(report));
  else tellDatabase(context, report);
  requireNone(report.findings.list);
  const newest = report.logs.find(({ closedMs }) => closedMs === null)?.checkpoint;
  if (state !== undefined && newest) writeSeen(state, { checkpoint: newest, policy: null });
}

function withProgress<T>(
  { status }: CliContext,
  work: (signal: AbortSignal, onProgress: (part: string, count: number) => void) => Promise<T>,
): Promise<T> {
  const line = status;
  const onProgress = (part: string, count: number): void =>
    line.show(`${part}: ${count.toLocaleString('en')}`);
  return untilInterrupted((signal) => work(signal, onProgress)).finally(() => line.clear());
}

function requireNone({ length }: readonly Finding[]): void {
  if (length === 0) return;
  throw new CommandError(`the check failed: ${counted(length, 'finding')}`, 1);
}

function placeJson({ name, trusted, isFirst, seenSize, seenFile, findings }: PlaceReport) {
  const { origin, size, root } = trusted.checkpoint;
  return {
    place: name,
    origin,
    size,
    root: encodeBase64(root),
    signed_with: trusted.signedWith,
    witnesses: trusted.witnesses,
    policy_from_log: isFirst,
    state_file: seenFile,
    last_size: seenSize,
    findings: findings.list,
  };
}

function tellPlace({ err }: CliContext, report: PlaceReport): void {
  const { name, trusted, isFirst, seenSize, findings } = report;
  const { origin, size, root } = trusted.checkpoint;
  err(
    `Log: ${origin} at ${name}, ${counted(size, 'entry', 'entries')}, root ${encodeBase64(root)}\n`,
  );
  const by = trusted.witnesses.length === 0 ? 'no witness' : trusted.witnesses.join(', ');
  err(`Signed with ${trusted.signedWith.join(' and ')}, cosigned by ${by}.\n`);
  tellFindings(err, findings.list);
  if (findings.list.length > 0) return;
  err(
    seenSize === null
      ? 'This is the first check of this log here: nothing earlier was compared.\n'
      : `It contains the ${counted(seenSize, 'entry', 'entries')} of the last check.\n`,
  );
  if (isFirst) {
    err(
      'The keys came from the log itself. Compare its policy with one that you have from elsewhere, or name that with ' +
        '--policy.\n',
    );
  }
  err('No problems found.\n');
}

interface OwnReport extends DatabaseReport {
  readonly logs: readonly LogRecord[];
  /** Path of the state file if there is none, or this user may not read it. */
  readonly missingState: string | null;
}

function databaseJson({ logs, rows, pending, setAside, findings }: OwnReport) {
  return {
    logs: logs.map(({ origin, size, root, closedMs }) => ({
      origin,
      size,
      root: encodeBase64(root),
      open: closedMs === null,
    })),
    rows: {
      logged: rows.logged,
      pending: rows.pending,
      older: rows.older,
      pruned: rows.pruned,
      recovered: rows.recovered,
    },
    audit_records: rows.audits,
    pending,
    set_aside: setAside,
    findings: findings.list,
  };
}

function tellDatabase({ err }: CliContext, report: OwnReport): void {
  const { logs, missingState, rows, pending, findings } = report;
  for (const { origin, size, root, closedMs } of logs) {
    const state = closedMs === null ? '' : ' (closed)';
    err(
      `Log: ${origin}${state}, ${counted(size, 'entry', 'entries')}, root ${encodeBase64(root)}\n`,
    );
  }
  tellFindings(err, findings.list);
  err(
    `Compared ${counted(rows.logged, 'row')} and ${counted(rows.audits, 'audit record')} with their entries. ` +
      `Pending: ${pending}. Rows older than the log: ${rows.older.toLocaleString('en')}. Entries whose row was pruned: ` +
      `${rows.pruned.toLocaleString('en')}.\n`,
  );
  if (rows.recovered > 0) {
    err(
      `${counted(rows.recovered, 'entry was', 'entries were')} recovered from a copy: their statements are gone.\n`,
    );
  }
  if (missingState !== null) {
    err(
      `No state file was read at ${missingState}: nothing was compared with what this server published.\n`,
    );
  }
  if (findings.list.length === 0) err('No problems found.\n');
}

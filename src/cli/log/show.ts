/** `phm log show`: shows the logs of the database and the state of this server. */

import type { Command } from 'commander';
import type { WriteLines } from '#platform/commands';
import { writeJson } from '#platform/commands';
import { FormatError, type Policy } from '#tlog';
import { formatTimestamp } from '../../clock.ts';
import type { Config } from '../../config/index.ts';
import type { LedgerStore, LogRecord } from '../../ledger/index.ts';
import { policyText, readState } from '../../log/index.ts';
import { counted } from '../admin/row-counts.ts';
import { withStoreToRead } from '../admin/with-store.ts';
import type { CliContext } from '../context.ts';
import { openLogOf } from './open-log.ts';
import { parseTrustedPolicy, readPolicyFile } from './policy-file.ts';

const HELP = `
The policy is what verifiers of receipts pin (phm receipt verify --policy). With PHM_LOG_WITNESSES it has the witnesses of
that file and their quorum.

Example:
  phm log show --policy > policy
`;

interface ShowOptions {
  readonly policy?: boolean;
  readonly json?: boolean;
}

export function addShowCommand(log: Command, context: CliContext): void {
  log
    .command('show')
    .description('show origin, keys, policy, size and state file of the log')
    .option('--policy', 'write only the policy of the open log')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', HELP)
    .action((options: ShowOptions) => show(context, options));
}

/** Characters of a verifier key that are shown: a whole Ed25519 key of most logs. */
const MAX_KEY_TEXT = 100;

/** A log as the command shows it. */
interface Shown extends LogRecord {
  readonly policy: string;
  readonly pending: number;
  readonly setAside: number;
  readonly oldestPendingMs: number | null;
}

async function show(context: CliContext, options: ShowOptions): Promise<void> {
  await withStoreToRead(context, async (store, config) => {
    const witnesses = readWitnesses(config);
    const logs: Shown[] = [];
    const records = await store.logs();
    const { logId } = openLogOf(records);
    for (const log of records) logs.push(await describe(store, log, witnesses));
    const open = logs.find((log) => log.logId === logId);
    if (options.policy) context.outText(open?.policy ?? '');
    else if (options.json)
      writeJson(context, { logs: logs.map(toJson), state_file: stateJson(config) });
    else tell(context, logs, config);
  });
}

function readWitnesses({ log: { witnessesFile } }: Config): Policy | null {
  if (witnessesFile === null) return null;
  return parseTrustedPolicy(witnessesFile, readPolicyFile(witnessesFile));
}

async function describe(
  store: LedgerStore,
  log: LogRecord,
  witnesses: Policy | null,
): Promise<Shown> {
  const [ed25519 = '', mlDsa44 = ''] = log.verifierKeys.split('\n');
  const { origin } = log;
  const policy = policyText({ origin, verifierKeys: { ed25519, mlDsa44 } }, witnesses);
  const { pending, setAside, oldestPendingMs } = await store.logCounts(log.logId);
  return { ...log, policy, pending, setAside, oldestPendingMs };
}

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : formatTimestamp(ms));

function toJson(log: Shown) {
  return {
    origin: log.origin,
    verifier_keys: log.verifierKeys.split('\n').filter((line) => line !== ''),
    started_at: formatTimestamp(log.startedMs),
    closed_at: timeOrNull(log.closedMs),
    size: log.size,
    root: Buffer.from(log.root).toString('base64'),
    checkpoint: log.checkpoint,
    witnessed: log.witnessed,
    pending: log.pending,
    oldest_pending: timeOrNull(log.oldestPendingMs),
    set_aside: log.setAside,
    policy: log.policy,
  };
}

/** What the state file holds: the size of its checkpoint, or why it has none. */
interface StateFile {
  readonly path: string;
  readonly origin: string | null;
  readonly size: number | null;
  readonly problem: string | null;
}

function stateJson({ log: { stateFile: path } }: Config): StateFile {
  try {
    const state = readState(path);
    if (state === null) return { path, origin: null, size: null, problem: 'there is no such file' };
    const { origin, size } = state.checkpoint;
    return { path, origin, size, problem: null };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!(error instanceof FormatError) && code === undefined) throw error;
    return { path, origin: null, size: null, problem: message };
  }
}

function tell({ out }: CliContext, logs: readonly Shown[], config: Config): void {
  for (const log of logs) {
    const rows = [
      ['origin', log.origin],
      ['started', formatTimestamp(log.startedMs)],
      ...(log.closedMs === null ? [] : [['closed', formatTimestamp(log.closedMs)]]),
      ['size', counted(log.size, 'entry', 'entries')],
      ['root', Buffer.from(log.root).toString('base64')],
      ['pending', pendingText(log)],
      ['set aside', String(log.setAside)],
      ...log.verifierKeys
        .split('\n')
        .filter((line) => line !== '')
        .map((key) => ['key', shortKey(key)]),
    ];
    for (const [name = '', value = ''] of rows) out(`${name.padEnd(10)} ${value}\n`);
    if (log.closedMs === null) tellOpen(out, log, stateJson(config));
    out('\n');
  }
}

function tellOpen(out: WriteLines, log: Shown, state: StateFile): void {
  const held =
    state.problem ?? `${counted(state.size ?? 0, 'entry', 'entries')} of ${state.origin}`;
  out(`state file ${state.path}: ${held}\n`);
  const missing = state.origin === log.origin ? (state.size ?? 0) - log.size : 0;
  if (missing > 0) {
    const entries = counted(missing, 'published entry', 'published entries');
    out(`missing    the database lacks ${entries}: docs/guides/failover.md#after\n`);
  }
  const [quorum = ''] = log.policy.trimEnd().split('\n').slice(-1);
  out(`policy     ${quorum}; all of it: phm log show --policy\n`);
}

/** Returns a verifier key on one line: that of ML-DSA-44 has 1,750 characters. */
function shortKey(key: string): string {
  return key.length <= MAX_KEY_TEXT ? key : `${key.slice(0, MAX_KEY_TEXT)}…`;
}

function pendingText({ pending, oldestPendingMs }: Shown): string {
  if (oldestPendingMs === null) return String(pending);
  return `${pending}, the oldest from ${formatTimestamp(oldestPendingMs)}`;
}

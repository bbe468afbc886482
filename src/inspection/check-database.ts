/** Checks the logs of a database, and compares them with its rows. */
import { FormatError, parseCheckpoint, parseNote } from '#tlog';
import { formatTimestamp, MINUTE_MS } from '../clock.ts';
import { type FindingKind, Findings } from '../ledger/admin.ts';
import { faultsOf, type LedgerStore, type LogRecord } from '../ledger/index.ts';
import { openCheckpoint } from '../log/index.ts';
import type { LogMacKeys } from '../proof/index.ts';
import { followingEntry, judgeSeal } from '../service/offline.ts';
import type { LogStartFacts } from './audits-check.ts';
import { checkRows, type RowsReport } from './rows-check.ts';
import { continues, storeSource, storeTiles } from './store-source.ts';
import { checkTree, type Mark } from './tree-check.ts';
import { algorithmOf, describeCheckpoint, verifierKeysOf } from './trust.ts';

export interface DatabaseReport {
  readonly rows: RowsReport;
  /** Entries that wait, and entries that were set aside, in all logs. */
  readonly pending: number;
  readonly setAside: number;
  readonly findings: Findings;
}

/** A checkpoint that someone has seen, and where it is from: a signed note, or why there is none. */
export type KnownCheckpoint = { readonly name: string } & (
  | { readonly note: string }
  | { readonly problem: string }
);

interface DatabaseOrder {
  readonly store: LedgerStore;
  /** All logs of the database. */
  readonly logs: readonly LogRecord[];
  /** What the logs must contain. It was read before the logs, which may grow meanwhile. */
  readonly known: readonly KnownCheckpoint[];
  /** Keys for seals and MACs; null without the master secret. */
  readonly macs: LogMacKeys | null;
  /** Rows without a statement are findings from this time on; null: from the first logged key on. */
  readonly sinceMs: number | null;
  readonly nowMs: number;
  /** Time between turns of the log. */
  readonly intervalMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (part: string, count: number) => void;
}

const WRONG_HEAD: FindingKind = {
  problem: 'the root of the entries is not the stored one',
  remedy:
    'Entries or the head of the log were changed in the database. Restore them from a copy of the log.',
};
const UNSEALED: FindingKind = {
  problem: 'heads that no server sealed',
  remedy:
    'A writer of the database wrote entries or the head. Servers stop the log. Restore the database.',
};
const WRONG_CHECKPOINT: FindingKind = {
  problem: 'stored checkpoints that the log does not have',
  remedy:
    'The checkpoint or the entries were changed in the database. Compare them with a copy of the log.',
};
const UNPUBLISHED: FindingKind = {
  problem: 'logs with entries, but without a stored checkpoint',
  remedy:
    'The checkpoint was removed from the database. Compare the log with a copy or with a state file.',
};
const UNSIGNED: FindingKind = {
  problem: 'checkpoints without a valid signature of the log',
  remedy: 'The checkpoint was changed, or signed with other keys.',
};
const FORKED_STATE: FindingKind = {
  problem: 'a known checkpoint does not fit the database',
  remedy: 'The database lost published entries, or was rewritten: phm log recover',
};
const LATE: FindingKind = {
  problem: 'entries that wait for more than a minute',
  remedy: 'The log has stopped, or no server with its keys runs. The log of the servers says why.',
};
const STRANDED: FindingKind = {
  problem: 'entries that wait for a closed log for more than a minute',
  remedy:
    'Servers that still use the keys of the closed log wrote them. Restart these servers with the new keys.',
};
const SET_ASIDE: FindingKind = {
  problem: 'entries that were set aside',
  remedy: 'Their MAC was wrong: a writer of the database queued or changed them.',
};
const ROW_CHANGED: FindingKind = {
  problem: 'rows of logs that no server and no command leaves like that',
  remedy:
    'Something else changed the table of logs. Entries of new keys may go to no log: servers release no keys. Restore the database.',
};
const START_CHANGED: FindingKind = {
  problem: 'logs whose row differs from the audit record of their start',
  remedy: 'The row was changed in the database. Restore it from a backup.',
};
const NOT_LINKED: FindingKind = {
  problem: 'logs that do not begin with the last checkpoint of the log before them',
  remedy: 'The first entry, or the closed log, was changed in the database.',
};

export async function checkDatabase(order: DatabaseOrder): Promise<DatabaseReport> {
  const { logs, macs, signal, onProgress, store, sinceMs } = order;
  const findings = new Findings();
  const known = order.known.filter((one) => isNote(one, findings));
  for (const { name, note } of known) {
    const origin = originOf(note);
    if (logs.some((log) => log.origin === origin)) continue;
    findings.add(
      FORKED_STATE,
      `${name}: ${origin === null ? 'no checkpoint' : `of the log ${origin}`}`,
    );
  }
  for (const { origin, found } of faultsOf(logs)) findings.add(ROW_CHANGED, `${origin} ${found}`);
  for (const log of logs) {
    const own = known.filter(({ note }) => originOf(note) === log.origin);
    await checkLog(order, log, own, findings);
  }
  await checkSeals(order, findings);
  const rows = await checkRows({ store, logs, findings, sinceMs, macs, signal, onProgress });
  checkStarts(logs, rows.starts, findings);
  await checkLinks(store, logs, rows.follows, findings);
  const { pending, setAside } = await checkWaiting(order, findings);
  return { rows, pending, setAside, findings };
}

type Note = Extract<KnownCheckpoint, { readonly note: string }>;

/** Returns false, with a finding, for a file that holds no note. */
function isNote(known: KnownCheckpoint, findings: Findings): known is Note {
  if ('note' in known) return true;
  findings.add(FORKED_STATE, `${known.name}: ${known.problem}`);
  return false;
}

/** Checks the seal of each head, with the master secret. A seal under a registered version that it lacks cannot be judged. */
async function checkSeals({ store, logs, macs }: DatabaseOrder, findings: Findings): Promise<void> {
  if (macs === null) return;
  const registered = await store.secretChecks();
  for (const log of logs) {
    const verdict = judgeSeal(macs, log.origin, log);
    if (verdict === 'valid') continue;
    if (verdict === 'unknown_version' && registered.has(log.seal.version)) continue;
    findings.add(UNSEALED, `${log.origin}: ${describeCheckpoint(log)}`);
  }
}

/** Returns the origin that a note names; null if it is no checkpoint. */
function originOf(note: string): string | null {
  try {
    return parseCheckpoint(parseNote(note).text).origin;
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

async function checkLog(
  { store, signal, onProgress }: DatabaseOrder,
  log: LogRecord,
  known: readonly Note[],
  findings: Findings,
): Promise<void> {
  const marks: Mark[] = [{ checkpoint: log, kind: WRONG_HEAD, example: log.origin }];
  // A server publishes an empty log before its first entry, and a log that follows another with that entry.
  if (log.checkpoint === null && log.size > 1) findings.add(UNPUBLISHED, log.origin);
  for (const note of [log.checkpoint, log.witnessed]) {
    const mark = note === null ? null : openStored(log, note, findings);
    if (mark) marks.push(mark);
  }
  for (const { name, note } of known) {
    const mark = openKnown(name, note, log, findings);
    if (mark) marks.push(mark);
  }
  await checkTree({
    source: storeSource(store, log),
    size: log.size,
    marks,
    findings,
    signal,
    onProgress: (entries) => onProgress(`${log.origin}: entries`, entries),
  });
}

/** Compares each log with the audit record of its start, which the log's own entries confirm. */
function checkStarts(
  logs: readonly LogRecord[],
  starts: ReadonlyMap<number, LogStartFacts>,
  findings: Findings,
): void {
  for (const { logId, origin, startedMs, verifierKeys } of logs) {
    const stated = starts.get(logId);
    // A server that was killed between the start and its record left none.
    if (!stated) continue;
    if (stated.atMs !== startedMs) findings.add(START_CHANGED, `${origin}: the time of its start`);
    if (stated.verifierKeys !== verifierKeys) {
      findings.add(START_CHANGED, `${origin}: its verifier keys`);
    }
  }
}

/**
 * Checks that each log after the first begins with the hash of a checkpoint, and that the log before it has this tree.
 * The audit record names the checkpoint; a server that was killed before it wrote the record used the stored one.
 */
async function checkLinks(
  store: LedgerStore,
  logs: readonly LogRecord[],
  follows: ReadonlyMap<number, string>,
  findings: Findings,
): Promise<void> {
  for (const [i, { logId, origin, size }] of logs.entries()) {
    const before = logs[i - 1];
    if (!before) continue;
    const text = follows.get(logId) ?? (before.checkpoint && parseNote(before.checkpoint).text);
    // The audit record waits for its turn at first.
    if (text === null && size <= 1) continue;
    const first = await store.readEntries(logId, 0, 1);
    const isLinked = text !== null && followingEntry(text).equals(first);
    if (!isLinked || !(await endsAt(store, before, text))) findings.add(NOT_LINKED, origin);
  }
}

/** Reports whether a closed log has the tree of this checkpoint, as far as it has entries. */
async function endsAt(store: LedgerStore, log: LogRecord, text: string): Promise<boolean> {
  const checkpoint = parseCheckpoint(text);
  if (checkpoint.origin !== log.origin) return false;
  // A rotation after a restore: the database lost published entries.
  if (checkpoint.size > log.size) return true;
  return continues(storeTiles(store, log), checkpoint, log);
}

/** Returns the mark of a stored checkpoint; null, with a finding, if it is not one of this log. */
function openStored(log: LogRecord, note: string, findings: Findings): Mark | null {
  try {
    const { checkpoint, signedBy } = openCheckpoint(note, verifierKeysOf(log));
    const missing = verifierKeysOf(log).filter(
      ({ text }) => !signedBy.some((one) => one.text === text),
    );
    for (const key of missing) {
      findings.add(UNSIGNED, `${log.origin}: no signature with ${algorithmOf(key)}`);
    }
    const example = `${log.origin}: ${describeCheckpoint(checkpoint)}`;
    if (checkpoint.size <= log.size) return { checkpoint, kind: WRONG_CHECKPOINT, example };
    findings.add(WRONG_CHECKPOINT, example);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    findings.add(UNSIGNED, `${log.origin}: ${error.message}`);
  }
  return null;
}

/** Returns the mark of a known checkpoint; null, with a finding, if it is ahead of the log or not of this log. */
function openKnown(name: string, note: string, log: LogRecord, findings: Findings): Mark | null {
  try {
    const { checkpoint } = openCheckpoint(note, verifierKeysOf(log));
    const example = `${name}: ${describeCheckpoint(checkpoint)}`;
    if (checkpoint.size <= log.size) return { checkpoint, kind: FORKED_STATE, example };
    findings.add(FORKED_STATE, `${example}, but the database has ${log.size}`);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    findings.add(FORKED_STATE, `${name}: ${error.message}`);
  }
  return null;
}

async function checkWaiting(
  { store, logs, intervalMs, nowMs }: DatabaseOrder,
  findings: Findings,
): Promise<{ pending: number; setAside: number }> {
  const lateMs = Math.max(MINUTE_MS, 2 * intervalMs);
  let [pending, setAside] = [0, 0];
  for (const { logId, origin, closedMs } of logs) {
    const counts = await store.logCounts(logId);
    pending += counts.pending;
    setAside += counts.setAside;
    if (counts.setAside > 0) findings.add(SET_ASIDE, `${origin}: ${counts.setAside}`);
    if (counts.oldestPendingMs === null || nowMs - counts.oldestPendingMs <= lateMs) continue;
    const since = formatTimestamp(counts.oldestPendingMs);
    const kind = closedMs === null ? LATE : STRANDED;
    findings.add(kind, `${origin}: ${counts.pending}, the oldest from ${since}`);
  }
  return { pending, setAside };
}

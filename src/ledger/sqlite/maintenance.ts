/** The upkeep of the embedded ledger: removes old rows and sums, a few at a time. */
import { setTimeout as delay } from 'node:timers/promises';
import { type ClockReading, requireBelieved } from '../clock-check.ts';
import { keyIdBound, keyIdMs } from '../key-time.ts';
import { type PruneBounds, pruneBounds } from '../prune-bounds.ts';
import type { PruneOrder, PruneReport } from '../store.ts';
import { unavailable } from '../unavailable.ts';
import type { AccountKeys } from './account-keys.ts';
import { removeExpired } from './answers.ts';
import { acceptClockInSqlite, noteClockInSqlite, readClockBySqlite } from './clock.ts';
import type { SqliteConnection } from './connection.ts';
import { pruneDeliveries, removeExpiredCopies } from './deliveries.ts';
import { Fingerprints } from './fingerprints.ts';

/** Rows per transaction. Each transaction holds the only write lock. */
const CHUNK = 500;

/** Entries of the index by fingerprint that one transaction merges. They are in order, so each page takes several. */
const MERGED = 2_000;

/**
 * Shortest pause between two transactions. A process that waits for the lock retries after a few
 * milliseconds.
 */
const MIN_PAUSE_MS = 20;

// Rows that are old by both times. A row stays while its ID or its `created_ms` is young, because a wrong
// clock may have set the other.
const ROWS = 'FROM ledger WHERE key_id < ? AND created_ms < ?';

// The first old row by ID whose ID is no older than its `created_ms`, which holds unless a clock was set
// back.
const OLDEST_ROW = `SELECT key_id AS keyId ${ROWS}
  AND key_id >= unhex(printf('%012X', max(created_ms, 0))) ORDER BY key_id LIMIT 1`;

// One account at a time, because these primary keys begin with the account.
const MINUTES = `FROM accounts CROSS JOIN rollup_minute AS old
  WHERE old.account_id = accounts.account_id AND old.period < ?`;

const P_VALUES = `FROM accounts CROSS JOIN validated_keys AS old
  WHERE old.account_id = accounts.account_id AND old.key_id < ?
    AND NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.key_id = old.key_id)`;

/**
 * Removes old rows and sums. After each piece it pauses for as long as the piece took, so that others can
 * write.
 */
export async function pruneSqlite(
  connection: SqliteConnection,
  order: PruneOrder,
): Promise<PruneReport> {
  const { clock, dryRun, signal } = order;
  requireBelieved(lookAtClock(connection, order));
  const bounds = connection.guarded(() => boundsOf(connection, clock.nowMs(), order.keepMs));
  const { beforeMs } = bounds;
  const isPartial = connection.guarded(() => leavesSome(connection, bounds));
  if (dryRun) return { ...countOld(connection, bounds), beforeMs, isPartial };
  const bound = keyIdBound(beforeMs);
  await mergeRecent(connection, signal);
  const rows = await inChunks(connection, signal, () =>
    connection.run(
      `DELETE FROM ledger WHERE key_id IN (SELECT key_id ${ROWS} ORDER BY key_id LIMIT ${CHUNK})`,
      bound,
      beforeMs,
    ),
  );
  await inChunks(connection, signal, () =>
    connection.run(
      `DELETE FROM validated_keys WHERE (account_id, key_id) IN
         (SELECT old.account_id, old.key_id ${P_VALUES} LIMIT ${CHUNK})`,
      bound,
    ),
  );
  await inChunks(connection, signal, () =>
    pruneDeliveries(connection, bound, clock.nowMs(), CHUNK),
  );
  await removeExpiredAnswers(connection, clock.nowMs(), signal);
  await expireCopies(connection, clock.nowMs(), signal);
  const minuteSums = await inChunks(connection, signal, () =>
    connection.run(
      `DELETE FROM rollup_minute WHERE (account_id, period) IN
         (SELECT old.account_id, old.period ${MINUTES} LIMIT ${CHUNK})`,
      bounds.beforeMinute,
    ),
  );
  return { rows, minuteSums, partitions: [], beforeMs, isPartial };
}

/**
 * Merges the recent entries of the index by fingerprint: removing a row removes only a merged entry. An entry of a
 * removed row would do no harm, but stay.
 */
async function mergeRecent(
  connection: SqliteConnection,
  signal: AbortSignal | undefined,
): Promise<void> {
  const fingerprints = new Fingerprints(connection);
  const to = connection.guarded(() => fingerprints.refresh().newest) ?? 0;
  for (let isPartial = to > 0; isPartial && !signal?.aborted; ) {
    const began = performance.now();
    isPartial = inTransaction(connection, () => fingerprints.drain(to, MERGED));
    if (isPartial) await delay(Math.max(MIN_PAUSE_MS, performance.now() - began));
  }
}

/** Merges rows into the index by account, a chunk at a time, until less than a chunk is left. */
export async function mergeAccountKeys(
  connection: SqliteConnection,
  accountKeys: AccountKeys,
  signal?: AbortSignal,
): Promise<void> {
  for (let isPartial = true; isPartial && !signal?.aborted; ) {
    const began = performance.now();
    isPartial = inTransaction(connection, () => accountKeys.merge());
    if (isPartial) await delay(Math.max(MIN_PAUSE_MS, performance.now() - began));
  }
}

/** Removes expired idempotency records, a few at a time. The caller trusts the clock. */
export async function removeExpiredAnswers(
  connection: SqliteConnection,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  for (let after: number | null = 0; after !== null && !signal?.aborted; ) {
    const began = performance.now();
    const from: number = after;
    after = inTransaction(connection, () => removeExpired(connection, from, nowMs));
    if (after !== null) await delay(Math.max(MIN_PAUSE_MS, performance.now() - began));
  }
}

/** Removes expired copies from their boxes, a few at a time. The caller trusts the clock. */
export async function expireCopies(
  connection: SqliteConnection,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  await inChunks(connection, signal, () => removeExpiredCopies(connection, nowMs, CHUNK));
}

/** Checks the clock and records the result, or the operator's acceptance. A dry run records nothing. */
function lookAtClock(
  connection: SqliteConnection,
  { clock, dryRun, acceptClock }: PruneOrder,
): ClockReading {
  if (dryRun) {
    const reading = readClockBySqlite(connection, clock);
    return acceptClock ? { ...reading, doubt: null } : reading;
  }
  if (acceptClock) acceptClockInSqlite(connection, clock);
  return noteClockInSqlite(connection, clock);
}

function boundsOf(connection: SqliteConnection, nowMs: number, keepMs: number): PruneBounds {
  const goalMs = nowMs - keepMs;
  const minute = connection.get(
    `SELECT min(period) AS period FROM accounts CROSS JOIN rollup_minute AS old
     WHERE old.account_id = accounts.account_id`,
  )?.period;
  return pruneBounds(nowMs, goalMs, {
    rowMs: oldestRowMs(connection, goalMs),
    minute: typeof minute === 'number' ? minute : null,
  });
}

/**
 * Returns the younger of the two times of the oldest old row; null if no row is old. If all these rows were
 * written while a clock was set back, they are few and all are read.
 */
function oldestRowMs(connection: SqliteConnection, goalMs: number): number | null {
  const bounds = [keyIdBound(goalMs), goalMs] as const;
  const row = connection.get(OLDEST_ROW, ...bounds);
  if (row?.keyId instanceof Uint8Array) return keyIdMs(row.keyId);
  const first = connection.get(`SELECT min(created_ms) AS createdMs ${ROWS}`, ...bounds);
  return typeof first?.createdMs === 'number' ? first.createdMs : null;
}

/** Reports whether old rows or sums remain for further runs. */
function leavesSome(connection: SqliteConnection, bounds: PruneBounds): boolean {
  const { goalMs, beforeMs, goalMinute, beforeMinute } = bounds;
  const [goal, before] = [keyIdBound(goalMs), keyIdBound(beforeMs)];
  const some = (what: string, ...values: (number | Uint8Array)[]): boolean =>
    connection.get(`SELECT 1 ${what} LIMIT 1`, ...values) !== undefined;
  if (some(`${MINUTES} AND period >= ?`, goalMinute, beforeMinute)) return true;
  if (beforeMs === goalMs) return false;
  return (
    some(`${ROWS} AND key_id >= ?`, goal, goalMs, before) ||
    some(`${ROWS} AND created_ms >= ?`, before, goalMs, beforeMs)
  );
}

/** Counts all old rows and sums, including those that further runs would remove. */
function countOld(
  connection: SqliteConnection,
  { goalMs, goalMinute }: PruneBounds,
): Pick<PruneReport, 'rows' | 'minuteSums' | 'partitions'> {
  return connection.guarded(() => ({
    rows: Number(connection.get(`SELECT count(*) AS n ${ROWS}`, keyIdBound(goalMs), goalMs)?.n),
    minuteSums: Number(connection.get(`SELECT count(*) AS n ${MINUTES}`, goalMinute)?.n),
    partitions: [],
  }));
}

/** Repeats a removal, each time in its own transaction, until it finds less than a full chunk. */
async function inChunks(
  connection: SqliteConnection,
  signal: AbortSignal | undefined,
  remove: () => number,
): Promise<number> {
  let removed = 0;
  for (;;) {
    if (signal?.aborted) return removed;
    const began = performance.now();
    const count = inTransaction(connection, remove);
    removed += count;
    if (count < CHUNK) return removed;
    await delay(Math.max(MIN_PAUSE_MS, performance.now() - began));
  }
}

function inTransaction<T>(connection: SqliteConnection, remove: () => T): T {
  try {
    connection.begin();
    const result = remove();
    connection.commit();
    return result;
  } catch (error) {
    connection.rollBack();
    throw unavailable(error);
  }
}

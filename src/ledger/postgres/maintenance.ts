/**
 * The upkeep of a ledger in PostgreSQL: creates months ahead and removes old months, old rows, and rows of
 * servers that are gone.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { utcMonth, utcMonthStart } from '../../clock.ts';
import { SetupError } from '../../errors.ts';
import { requireBelieved } from '../clock-check.ts';
import { keyIdBound, keyIdMs } from '../key-time.ts';
import { type PruneBounds, pruneBounds } from '../prune-bounds.ts';
import type { PruneOrder, PruneReport } from '../store.ts';
import { unavailable } from '../unavailable.ts';
import { databaseNowMs, readClockByDatabase } from './clock.ts';
import {
  isConflict,
  isLockTimeout,
  isUndefinedTable,
  type PostgresConnection,
} from './connection.ts';
import {
  CHUNK,
  expireCopies,
  IS_OLD,
  pruneDeliveries,
  removeMinuteSums,
  removePValues,
  removeRows,
} from './old-rows.ts';

/** Months created at a time: the current one and the next two. */
const MONTHS_AHEAD = 3;

/** Attempts at the lock for dropping a partition. Commits must not wait for it long. */
const MAX_DROP_ATTEMPTS = 5;
const DROP_PAUSE_MS = 2_000;

/** The tables of idempotency records, by day modulo 3. */
const SLOTS = [0, 1, 2];

/**
 * Selects the first old row by ID whose ID is no older than its `created_ms`, which holds unless a clock
 * was set back.
 */
export const OLDEST_ROW = `SELECT key_id AS "keyId" FROM ledger
  WHERE ${IS_OLD} AND key_id >= decode(lpad(to_hex(greatest(created_ms, 0)), 12, '0'), 'hex')
  ORDER BY key_id LIMIT 1`;

interface Partition {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

export async function makeMonthsAhead(
  connection: PostgresConnection,
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs);
  for (let i = 0; i < MONTHS_AHEAD; i++) {
    const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + i);
    await connection.get('SELECT ensure_ledger_partition($1)', month);
  }
}

/**
 * Removes unused rows of `writers`. A server that is alive but was idle for that long adds its row again.
 */
export async function removeUnusedWriters(connection: PostgresConnection): Promise<void> {
  await connection.all("DELETE FROM writers WHERE used_at < now() - interval '30 days'");
}

/**
 * Empties the table of idempotency records that is neither today's nor yesterday's. Its lock is not available while
 * another session reads all tables (a backup): then a later run empties it, and until then no lookup heeds its
 * records.
 */
export async function removeExpiredAnswers(connection: PostgresConnection): Promise<void> {
  for (let attempt = 1; attempt <= MAX_DROP_ATTEMPTS; attempt++) {
    try {
      for (const slot of SLOTS) await emptySlot(connection, slot);
      return;
    } catch (error) {
      if (!isLockTimeout(error) && !isConflict(error)) throw unavailable(error);
      if (attempt < MAX_DROP_ATTEMPTS) await delay(DROP_PAUSE_MS);
    }
  }
}

async function emptySlot(connection: PostgresConnection, slot: number): Promise<void> {
  for (;;) {
    const { rows } = await connection.run('SELECT empty_idempotency_slot($1) AS deleted', [slot]);
    if (Number(rows[0]?.deleted) < CHUNK) return;
  }
}

/**
 * Removes old rows: whole months as tables, the rest in small transactions. It holds no lock
 * between these. A concurrent run takes other rows, or finds them gone.
 */
export async function prunePostgres(
  connection: PostgresConnection,
  order: PruneOrder,
  maxClockSkewMs: number,
): Promise<PruneReport> {
  requireBelieved(await readClockByDatabase(connection, order.clock, maxClockSkewMs));
  const partitions = await listPartitions(connection);
  const bounds = await boundsOf(connection, order.keepMs);
  const { beforeMs } = bounds;
  const isPartial = await leavesSome(connection, bounds);
  if (order.dryRun)
    return { ...(await countOld(connection, partitions, bounds)), beforeMs, isPartial };
  const dropped: string[] = [];
  let rows = 0;
  for (const { name, startMs, endMs } of partitions) {
    if (order.signal?.aborted || beforeMs <= startMs) break;
    const removed = endMs <= beforeMs ? await dropMonth(connection, name, beforeMs) : 'younger';
    if (removed === 'younger') rows += await removeRows(connection, name, beforeMs, order.signal);
    else if (removed !== 'gone') {
      dropped.push(name);
      rows += removed;
    }
  }
  await removePValues(connection, beforeMs, order.signal);
  await pruneDeliveries(connection, beforeMs, order.signal);
  await removeExpiredAnswers(connection);
  await expireCopies(connection, order.signal);
  const minuteSums = await removeMinuteSums(connection, bounds.beforeMinute, order.signal);
  return { rows, minuteSums, partitions: dropped, beforeMs, isPartial };
}

/**
 * Returns the limits of this run by the database's clock: what is old, and how much of it the run removes. A run
 * that leaves some for others ends at the end of a month, so that months can be dropped whole: 31 days from any
 * time reach at least the end of its month.
 */
async function boundsOf(connection: PostgresConnection, keepMs: number): Promise<PruneBounds> {
  const nowMs = await databaseNowMs(connection);
  const goalMs = nowMs - keepMs;
  const minute = await connection.get(
    `SELECT min(old.period) AS period FROM accounts, LATERAL (
       SELECT period FROM rollup_minute WHERE account_id = accounts.account_id
       ORDER BY period LIMIT 1) AS old`,
  );
  const bounds = pruneBounds(nowMs, goalMs, {
    rowMs: await oldestRowMs(connection, goalMs),
    minute: (minute?.period as number | null | undefined) ?? null,
  });
  if (bounds.beforeMs === goalMs) return bounds;
  return { ...bounds, beforeMs: utcMonthStart(utcMonth(bounds.beforeMs)) };
}

/**
 * Returns the younger of the two times of the oldest old row; null if no row is old. If all these rows were
 * written while a clock was set back, they are few and all are read.
 */
async function oldestRowMs(connection: PostgresConnection, goalMs: number): Promise<number | null> {
  const bounds = [keyIdBound(goalMs), goalMs] as const;
  const row = await connection.get(OLDEST_ROW, ...bounds);
  if (row) return keyIdMs(row.keyId as Uint8Array);
  const first = `SELECT min(created_ms) AS "createdMs" FROM ledger WHERE ${IS_OLD}`;
  const { createdMs = null } = (await connection.get(first, ...bounds)) ?? {};
  return createdMs === null ? null : Number(createdMs);
}

/** Reports whether anything out of date remains for further runs. */
async function leavesSome(connection: PostgresConnection, bounds: PruneBounds): Promise<boolean> {
  const row = await connection.get(
    `SELECT EXISTS (SELECT FROM ledger WHERE ${IS_OLD} AND key_id >= $3) OR EXISTS (
       SELECT FROM accounts JOIN rollup_minute AS old ON old.account_id = accounts.account_id
       WHERE old.period < $4 AND old.period >= $5) OR $6 < $2 AND EXISTS (
       SELECT FROM ledger WHERE ${IS_OLD} AND key_id < $3 AND created_ms >= $6) AS some`,
    keyIdBound(bounds.goalMs),
    bounds.goalMs,
    keyIdBound(bounds.beforeMs),
    bounds.goalMinute,
    bounds.beforeMinute,
    bounds.beforeMs,
  );
  return row?.some === true;
}

/** Counts everything that is out of date, including what further runs would remove. */
async function countOld(
  connection: PostgresConnection,
  partitions: readonly Partition[],
  { goalMs, goalMinute }: PruneBounds,
): Promise<Pick<PruneReport, 'rows' | 'minuteSums' | 'partitions'>> {
  const whole: string[] = [];
  let rows = 0;
  for (const { name } of partitions.filter(({ startMs }) => startMs < goalMs)) {
    const found = await countMonth(connection, name, goalMs);
    if (!found) continue;
    if (found.younger === 0) whole.push(name);
    rows += found.old;
  }
  const sums = await connection.get(
    'SELECT count(*) AS n FROM rollup_minute WHERE period < $1',
    goalMinute,
  );
  return { rows, minuteSums: Number(sums?.n), partitions: whole };
}

/**
 * Returns the months of the ledger, oldest first, by the names that `ensure_ledger_partition` gives them.
 */
async function listPartitions(connection: PostgresConnection): Promise<Partition[]> {
  const tables = await connection.all(
    `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE inhparent = 'ledger'::regclass AND relname ~ '^ledger_[0-9]{6}$' ORDER BY relname`,
  );
  return tables.map(({ name }) => {
    const [year, month] = [Number(String(name).slice(7, 11)), Number(String(name).slice(11))];
    return {
      name: String(name),
      startMs: Date.UTC(year, month - 1),
      endMs: Date.UTC(year, month),
    };
  });
}

/**
 * Counts the old and the other rows of a month; undefined if another run has removed the month.
 */
async function countMonth(
  connection: PostgresConnection,
  name: string,
  goalMs: number,
): Promise<{ readonly old: number; readonly younger: number } | undefined> {
  try {
    const { rows } = await connection.run(
      `SELECT count(*) FILTER (WHERE ${IS_OLD}) AS old, count(*) FILTER (WHERE NOT (${IS_OLD})) AS younger
       FROM ${name}`,
      [keyIdBound(goalMs), goalMs],
    );
    return { old: Number(rows[0]?.old), younger: Number(rows[0]?.younger) };
  } catch (error) {
    if (isUndefinedTable(error)) return undefined;
    throw error;
  }
}

/**
 * Drops a month and returns how many rows it had, or `younger` if some are not old, in which case
 * the month stays. The drop needs a lock on the whole ledger for a moment, and commits queue behind it, so
 * each attempt waits only briefly. A backup in progress makes it fail.
 */
async function dropMonth(
  connection: PostgresConnection,
  name: string,
  beforeMs: number,
): Promise<number | 'younger' | 'gone'> {
  for (let attempt = 1; ; attempt++) {
    try {
      const drop = 'SELECT drop_ledger_partition($1, $2) AS rows';
      const { rows } = await connection.run(drop, [name, beforeMs]);
      return (rows[0]?.rows as number | null) ?? 'younger';
    } catch (error) {
      if (isUndefinedTable(error)) return 'gone';
      if (!isLockTimeout(error) && !isConflict(error)) throw error;
      if (attempt === MAX_DROP_ATTEMPTS) {
        throw new SetupError(
          `${name} was not removed: other transactions used the ledger throughout; end long ones (a ` +
            'backup, an open session), then try again',
        );
      }
      await delay(DROP_PAUSE_MS);
    }
  }
}

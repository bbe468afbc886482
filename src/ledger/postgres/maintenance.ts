/** The upkeep of a ledger in PostgreSQL: months ahead, old months and rows, rows of servers that are gone. */
import { setTimeout as delay } from 'node:timers/promises';
import { utcMonth, utcMonthStart } from '../../clock.ts';
import { SetupError } from '../../errors.ts';
import { requireBelieved } from '../clock-check.ts';
import { keyIdBound, keyIdMs } from '../key-time.ts';
import { type PruneBounds, pruneBounds } from '../prune-bounds.ts';
import type { PruneOrder, PruneReport } from '../store.ts';
import { databaseNowMs, readClockByDatabase } from './clock.ts';
import {
  isConflict,
  isLockTimeout,
  isUndefinedTable,
  type PostgresConnection,
} from './connection.ts';

/** The month of a time and the two that follow. */
const MONTHS_AHEAD = 3;

/** Rows of one transaction. */
const CHUNK = 2_000;

/** Attempts at the lock that a partition's end needs, which must not make commits wait for long. */
const MAX_DROP_ATTEMPTS = 5;
const DROP_PAUSE_MS = 2_000;

/** By both times: a row stays while one of them says that it is young, for a wrong clock may have told the other. */
const IS_OLD = 'key_id < $1 AND created_ms < $2';

/** The first old row by its id that is no older by its id than by `created_ms`, as rows are unless a clock was set back. */
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

/** A server that is alive all the same, and was idle for so long, adds its row again. */
export async function removeUnusedWriters(connection: PostgresConnection): Promise<void> {
  await connection.all("DELETE FROM writers WHERE used_at < now() - interval '30 days'");
}

/**
 * Removes what is out of date: whole months as tables, the rest in small transactions. It holds no lock
 * between these; another that does the same at once takes other rows, or finds them gone.
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
  const minuteSums = await removeMinuteSums(connection, bounds.beforeMinute, order.signal);
  return { rows, minuteSums, partitions: dropped, beforeMs, isPartial };
}

/**
 * What is out of date by the database's clock, and how much of it this turn removes. A turn that leaves some to others ends
 * with a month, so that months go as a whole: 31 days from any time on reach at least to the end of its month.
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
 * The time of the oldest row that is out of date, by the younger of its two times; null without one. If a clock was set back
 * while each of them was made, there are few, and all are read.
 */
async function oldestRowMs(connection: PostgresConnection, goalMs: number): Promise<number | null> {
  const bounds = [keyIdBound(goalMs), goalMs] as const;
  const row = await connection.get(OLDEST_ROW, ...bounds);
  if (row) return keyIdMs(row.keyId as Uint8Array);
  const first = `SELECT min(created_ms) AS "createdMs" FROM ledger WHERE ${IS_OLD}`;
  const { createdMs = null } = (await connection.get(first, ...bounds)) ?? {};
  return createdMs === null ? null : Number(createdMs);
}

/** Whether something that is out of date is left to further turns. */
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

/** All that is out of date, also what further turns would remove. */
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

/** The months of the ledger, oldest first, by the names that `ensure_ledger_partition` gives them. */
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

/** How many rows of a month are out of date, and how many are not; undefined when another has removed it meanwhile. */
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
 * The rows that went with a month; `younger` when it holds some that are not out of date, and stays. It needs the whole
 * ledger for a moment, and while it waits for that, commits wait behind it: so it waits only shortly, and comes again. A
 * backup that is under way makes it fail.
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
          `${name} was not removed: other transactions used the ledger all the time; end long ones (a ` +
            'backup, an open session), then try again',
        );
      }
      await delay(DROP_PAUSE_MS);
    }
  }
}

/** Removes a month's rows before the time. */
async function removeRows(
  connection: PostgresConnection,
  partition: string,
  beforeMs: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  return inChunks(
    connection,
    `WITH chunk AS MATERIALIZED (
       SELECT key_id FROM ${partition} WHERE ${IS_OLD} ORDER BY key_id LIMIT ${CHUNK}
       FOR UPDATE SKIP LOCKED)
     DELETE FROM ${partition} AS old USING chunk WHERE old.key_id = chunk.key_id`,
    [keyIdBound(beforeMs), beforeMs],
    signal,
  );
}

/** Removes the p-values of removed rows. */
async function removePValues(
  connection: PostgresConnection,
  beforeMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const orphaned =
    'AND NOT EXISTS (SELECT FROM ledger WHERE ledger.key_id = validated_keys.key_id)';
  const removal = removalByAccount('validated_keys', 'key_id', orphaned);
  await inChunks(connection, removal, [keyIdBound(beforeMs)], signal);
}

function removeMinuteSums(
  connection: PostgresConnection,
  beforeMinute: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const removal = removalByAccount('rollup_minute', 'period', '');
  return inChunks(connection, removal, [beforeMinute], signal);
}

/** Removes rows below a bound account by account, because the index is by account first. */
function removalByAccount(
  table: 'validated_keys' | 'rollup_minute',
  column: 'key_id' | 'period',
  condition: string,
): string {
  return `WITH chunk AS MATERIALIZED (
       SELECT old.account_id, old.${column} FROM accounts, LATERAL (
         SELECT account_id, ${column} FROM ${table}
         WHERE account_id = accounts.account_id AND ${column} < $1 ${condition}
         ORDER BY ${column} LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED) AS old
       LIMIT ${CHUNK})
     DELETE FROM ${table} AS old USING chunk
     WHERE old.account_id = chunk.account_id AND old.${column} = chunk.${column}`;
}

/** Repeats a statement, each time a transaction of its own, until it finds less than a full chunk. */
async function inChunks(
  connection: PostgresConnection,
  sql: string,
  bounds: readonly unknown[],
  signal: AbortSignal | undefined,
): Promise<number> {
  let removed = 0;
  for (;;) {
    if (signal?.aborted) return removed;
    const { rowCount } = await connection.run(sql, bounds);
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < CHUNK) return removed;
  }
}

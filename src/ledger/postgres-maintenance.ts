/** The upkeep of a ledger in PostgreSQL: months ahead, old months and rows, rows of servers that are gone. */
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from '../errors.ts';
import { isLockTimeout, isUndefinedTable, type PostgresConnection } from './postgres-connection.ts';
import { firstMinuteKept } from './rollup.ts';
import type { PruneOrder, PruneReport } from './store.ts';

/** The month of a time and the two that follow. */
const MONTHS_AHEAD = 3;

/** Rows of one transaction. */
const CHUNK = 2_000;

/** Attempts at the lock that a partition's end needs, which must not make commits wait for long. */
const MAX_DROP_ATTEMPTS = 5;
const DROP_PAUSE_MS = 2_000;

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
): Promise<PruneReport> {
  const { beforeMs, signal } = order;
  const partitions = await listPartitions(connection);
  const dropped: string[] = [];
  let rows = 0;
  for (const { name } of partitions.filter(({ endMs }) => endMs <= beforeMs)) {
    if (signal?.aborted) break;
    const removed = await removePartition(connection, name, order);
    if (removed === undefined) continue;
    dropped.push(name);
    rows += removed;
  }
  const boundary = partitions.find(({ startMs, endMs }) => startMs < beforeMs && beforeMs < endMs);
  if (boundary) rows += await removeRows(connection, boundary.name, order);
  await removePValues(connection, order);
  return { rows, minuteSums: await removeMinuteSums(connection, order), partitions: dropped };
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

/** The rows that went with a partition; undefined when another has removed it meanwhile. */
async function removePartition(
  connection: PostgresConnection,
  name: string,
  { dryRun }: PruneOrder,
): Promise<number | undefined> {
  try {
    const { rows } = await connection.run(`SELECT count(*) AS n FROM ${name}`);
    if (!dryRun) await dropTable(connection, name);
    return Number(rows[0]?.n);
  } catch (error) {
    if (isUndefinedTable(error)) return undefined;
    throw error;
  }
}

/**
 * It needs the whole ledger for a moment, and while it waits for that, commits wait behind it: so it waits
 * only shortly, and comes again. A backup that is under way makes it fail.
 */
async function dropTable(connection: PostgresConnection, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await connection.run(`DROP TABLE ${name}`);
      return;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
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
  { beforeMs, dryRun, signal }: PruneOrder,
): Promise<number> {
  const bound = keyIdBound(beforeMs);
  if (dryRun) {
    const count = `SELECT count(*) AS n FROM ${partition} WHERE key_id < $1`;
    return Number((await connection.run(count, [bound])).rows[0]?.n);
  }
  return inChunks(
    connection,
    `WITH chunk AS MATERIALIZED (
       SELECT key_id FROM ${partition} WHERE key_id < $1 ORDER BY key_id LIMIT $2
       FOR UPDATE SKIP LOCKED)
     DELETE FROM ${partition} AS old USING chunk WHERE old.key_id = chunk.key_id`,
    bound,
    signal,
  );
}

/** Removes the p-values of removed rows. */
async function removePValues(
  connection: PostgresConnection,
  { beforeMs, dryRun, signal }: PruneOrder,
): Promise<void> {
  if (dryRun) return;
  await removeOfAccounts(connection, 'validated_keys', 'key_id', keyIdBound(beforeMs), signal);
}

/** What the ids of keys made before a time are less than. */
function keyIdBound(beforeMs: number): Buffer {
  const bound = Buffer.alloc(6);
  bound.writeUIntBE(Math.max(0, beforeMs), 0, 6);
  return bound;
}

async function removeMinuteSums(
  connection: PostgresConnection,
  { nowMs, dryRun, signal }: PruneOrder,
): Promise<number> {
  const before = firstMinuteKept(nowMs);
  if (dryRun) {
    const count = 'SELECT count(*) AS n FROM rollup_minute WHERE period < $1';
    return Number((await connection.run(count, [before])).rows[0]?.n);
  }
  return removeOfAccounts(connection, 'rollup_minute', 'period', before, signal);
}

/** Removes rows below a bound account by account, because the index is by account first. */
function removeOfAccounts(
  connection: PostgresConnection,
  table: 'validated_keys' | 'rollup_minute',
  column: 'key_id' | 'period',
  before: Buffer | number,
  signal: AbortSignal | undefined,
): Promise<number> {
  return inChunks(
    connection,
    `WITH chunk AS MATERIALIZED (
       SELECT old.account_id, old.${column} FROM accounts, LATERAL (
         SELECT account_id, ${column} FROM ${table}
         WHERE account_id = accounts.account_id AND ${column} < $1
         ORDER BY ${column} LIMIT $2 FOR UPDATE SKIP LOCKED) AS old
       LIMIT $2)
     DELETE FROM ${table} AS old USING chunk
     WHERE old.account_id = chunk.account_id AND old.${column} = chunk.${column}`,
    before,
    signal,
  );
}

/** Repeats a statement, each time a transaction of its own, until it finds less than a full chunk. */
async function inChunks(
  connection: PostgresConnection,
  sql: string,
  before: Buffer | number,
  signal: AbortSignal | undefined,
): Promise<number> {
  let removed = 0;
  for (;;) {
    if (signal?.aborted) return removed;
    const { rowCount } = await connection.run(sql, [before, CHUNK]);
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < CHUNK) return removed;
  }
}

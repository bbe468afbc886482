/** Removes what is old, in small transactions that pass over rows of other sessions. */
import { keyIdBound } from '../key-time.ts';
import { counted, countOf } from './audit.ts';
import type { PostgresConnection } from './connection.ts';

/** Rows per transaction. */
export const CHUNK = 2_000;

/**
 * Matches rows that are old by both times. A row stays while one of them is young, because a wrong clock
 * may have set the other.
 */
export const IS_OLD = 'key_id < $1 AND created_ms < $2';

/** Removes a month's rows before the time. */
export async function removeRows(
  connection: PostgresConnection,
  partition: string,
  beforeMs: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  return inChunks(
    connection,
    removalOf(
      partition,
      `SELECT key_id FROM ${partition} WHERE ${IS_OLD} ORDER BY key_id LIMIT ${CHUNK}
       FOR UPDATE SKIP LOCKED`,
      'old.key_id = chunk.key_id',
    ),
    [keyIdBound(beforeMs), beforeMs],
    signal,
  );
}

/** Removes the p-values of removed rows. */
export async function removePValues(
  connection: PostgresConnection,
  beforeMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const orphaned =
    'AND NOT EXISTS (SELECT FROM ledger WHERE ledger.key_id = validated_keys.key_id)';
  const removal = removalByAccount('validated_keys', 'key_id', orphaned);
  await inChunks(connection, removal, [keyIdBound(beforeMs)], signal);
}

/** Removes the deliveries of removed rows, with what is left of their copies. */
export async function pruneDeliveries(
  connection: PostgresConnection,
  beforeMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const removal = counted(
    [
      `chunk AS MATERIALIZED (SELECT account_id, delivery_id FROM deliveries
        WHERE key_id < $1 AND until_ms <= (SELECT ledger_clock_ms() OFFSET 0)
          AND NOT EXISTS (SELECT FROM ledger WHERE ledger.key_id = deliveries.key_id)
        ORDER BY key_id LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED)`,
      `copies_removed AS (DELETE FROM delivery_copies AS old USING chunk
        WHERE old.account_id = chunk.account_id AND old.delivery_id = chunk.delivery_id)`,
      `removed AS (DELETE FROM deliveries AS old USING chunk
        WHERE old.account_id = chunk.account_id AND old.delivery_id = chunk.delivery_id RETURNING 1)`,
    ],
    'SELECT FROM removed',
    [['deliveries', countOf('chunk'), countOf('removed')]],
  );
  await inChunks(connection, removal, [keyIdBound(beforeMs)], signal);
}

/** Removes expired copies from their boxes, a few at a time, and none that another session locks. */
export async function expireCopies(
  connection: PostgresConnection,
  signal?: AbortSignal,
): Promise<void> {
  const box = `account_id = recipients.account_id AND recipient = recipients.name
    AND state IN ('waiting', 'received') AND until_ms <= (SELECT ledger_clock_ms() OFFSET 0)`;
  const expiry = counted(
    [
      `chunk AS MATERIALIZED (SELECT old.* FROM recipients, LATERAL (
        SELECT account_id, delivery_id, recipient FROM delivery_copies WHERE ${box}
        LIMIT ${CHUNK} FOR NO KEY UPDATE SKIP LOCKED) AS old
        LIMIT ${CHUNK})`,
      `expired AS (UPDATE delivery_copies AS old SET state = 'expired', sealed_key = NULL FROM chunk
        WHERE old.account_id = chunk.account_id AND old.delivery_id = chunk.delivery_id
          AND old.recipient = chunk.recipient RETURNING 1)`,
    ],
    'SELECT FROM expired',
    [['delivery_copies', countOf('chunk'), countOf('expired')]],
  );
  await inChunks(connection, expiry, [], signal);
}

export function removeMinuteSums(
  connection: PostgresConnection,
  beforeMinute: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const removal = removalByAccount('rollup_minute', 'period', '');
  return inChunks(connection, removal, [beforeMinute], signal);
}

/** Removes rows below a bound account by account, because the index begins with the account. */
function removalByAccount(
  table: 'validated_keys' | 'rollup_minute',
  column: 'key_id' | 'period',
  condition: string,
): string {
  return removalOf(
    table,
    `SELECT old.account_id, old.${column} FROM accounts, LATERAL (
       SELECT account_id, ${column} FROM ${table}
       WHERE account_id = accounts.account_id AND ${column} < $1 ${condition}
       ORDER BY ${column} LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED) AS old
     LIMIT ${CHUNK}`,
    `old.account_id = chunk.account_id AND old.${column} = chunk.${column}`,
  );
}

/** Returns a statement that removes the rows that `chunk` selects and locks, and returns one row for each. */
function removalOf(table: string, chunk: string, match: string): string {
  return counted(
    [
      `chunk AS MATERIALIZED (${chunk})`,
      `removed AS (DELETE FROM ${table} AS old USING chunk WHERE ${match} RETURNING 1)`,
    ],
    'SELECT FROM removed',
    [[table, countOf('chunk'), countOf('removed')]],
  );
}

/** Repeats a statement, each time in its own transaction, until it finds less than a full chunk. */
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

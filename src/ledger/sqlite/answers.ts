/** Idempotency records in SQLite: read, written and removed. */
import { type AnswerRow, answerColumns, expiredMs, toAnswer } from '../idempotency.ts';
import type { AnswerQuery, StoredAnswer } from '../store.ts';
import type { SqliteConnection } from './connection.ts';

/** Records per transaction. Each may hold a body of 4 MiB, whose pages the transaction frees. */
const CHUNK = 100;

/** Returns the answer of the record, unless it has expired. One from a clock that was set back has not. */
export function readAnswer(
  connection: SqliteConnection,
  { accountId, key, requestHash, atMs }: AnswerQuery,
): StoredAnswer | null {
  const row = connection.get(
    `SELECT ${answerColumns('?')} FROM idempotency
     WHERE account_id = ? AND idempotency_key = ? AND made_ms > ?`,
    requestHash,
    accountId,
    key,
    expiredMs(atMs),
  );
  return row ? toAnswer(row as unknown as AnswerRow) : null;
}

/** Writes a record, within a transaction that found none that counts. An expired one is replaced. */
export function writeAnswer(
  connection: SqliteConnection,
  accountId: string,
  idempotencyKey: string,
  { requestHash, keyIds, createdMs, body }: AnswerRow,
): void {
  connection.run(
    `INSERT INTO idempotency (account_id, idempotency_key, made_ms, request_hash, key_ids, created_ms,
       body)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (account_id, idempotency_key) DO UPDATE SET made_ms = excluded.made_ms,
       request_hash = excluded.request_hash, key_ids = excluded.key_ids,
       created_ms = excluded.created_ms, body = excluded.body`,
    accountId,
    idempotencyKey,
    createdMs,
    requestHash,
    keyIds,
    createdMs,
    body,
  );
}

/**
 * Removes expired records among the next `CHUNK` after a rowid, within a transaction. Returns the last rowid that it
 * looked at; null at the end, or if all of them still count: later ones are younger. Records from a clock that was
 * ahead say nothing about later ones.
 */
export function removeExpired(
  connection: SqliteConnection,
  after: number,
  nowMs: number,
): number | null {
  const found = connection.all(
    'SELECT rowid AS id, made_ms AS madeMs FROM idempotency WHERE rowid > ? ORDER BY rowid LIMIT ?',
    after,
    CHUNK,
  );
  const last = found.at(-1);
  const times = found.map(({ madeMs }) => Number(madeMs));
  const goesOn = times.some((one) => one <= expiredMs(nowMs)) || times.every((one) => one > nowMs);
  if (!last || !goesOn) return null;
  connection.run(
    'DELETE FROM idempotency WHERE rowid > ? AND rowid <= ? AND made_ms <= ?',
    after,
    Number(last.id),
    expiredMs(nowMs),
  );
  return Number(last.id);
}

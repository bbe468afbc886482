/** Idempotency records in SQLite: read, written and removed. */
import { concatBytes } from '../../bytes.ts';
import { type AnswerRow, answerColumns, expiredMs, toAnswer } from '../idempotency-columns.ts';
import type { AnswerQuery, StoredAnswer, WithdrawnAnswer } from '../store.ts';
import type { SqliteConnection } from './connection.ts';

/** Records per transaction. */
const CHUNK = 100;

/**
 * Bytes of bodies after which a transaction takes no further record. The transaction reads and frees their pages while it
 * holds the only write lock: about 1.5 ms for a MiB in memory.
 */
const CHUNK_BYTES = 8 * 1024 * 1024;

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

/** Removes a record within a transaction. Returns false if there is none with these keys. */
export function withdrawAnswer(
  connection: SqliteConnection,
  { accountId, key, keyIds }: WithdrawnAnswer,
): boolean {
  const sql =
    'DELETE FROM idempotency WHERE account_id = ? AND idempotency_key = ? AND key_ids = ?';
  return connection.run(sql, accountId, key, concatBytes(...keyIds)) === 1;
}

/**
 * Removes expired records among the next ones after a rowid, within a transaction. Returns the last rowid that it
 * looked at; null at the end, or if all of them still count: later ones are younger. Records from a clock that was
 * ahead say nothing about later ones.
 */
export function removeExpired(
  connection: SqliteConnection,
  after: number,
  nowMs: number,
): number | null {
  const found = nextRecords(connection, after);
  const last = found.at(-1);
  const times = found.map(({ madeMs }) => madeMs);
  const goesOn = times.some((one) => one <= expiredMs(nowMs)) || times.every((one) => one > nowMs);
  if (!last || !goesOn) return null;
  connection.run(
    'DELETE FROM idempotency WHERE rowid > ? AND rowid <= ? AND made_ms <= ?',
    after,
    last.id,
    expiredMs(nowMs),
  );
  return last.id;
}

interface Next {
  readonly id: number;
  readonly madeMs: number;
}

/** Returns the next records after a rowid, as many as one transaction may remove. */
function nextRecords(connection: SqliteConnection, after: number): Next[] {
  // octet_length reads only the head of a record, not the pages of its body.
  const rows = connection.all(
    `SELECT rowid AS id, made_ms AS "madeMs", octet_length(body) AS bytes FROM idempotency
     WHERE rowid > ? ORDER BY rowid LIMIT ?`,
    after,
    CHUNK,
  );
  let bytes = 0;
  const end = rows.findIndex((row) => {
    const isOver = bytes >= CHUNK_BYTES;
    bytes += Number(row.bytes ?? 0);
    return isOver;
  });
  const taken = end === -1 ? rows : rows.slice(0, end);
  return taken.map(({ id, madeMs }) => ({ id: Number(id), madeMs: Number(madeMs) }));
}

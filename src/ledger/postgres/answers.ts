/** Idempotency records in PostgreSQL, in the forms of `COMMIT_BATCH`. */
import { answerColumns, joinKeyIds, toAnswer } from '../idempotency-columns.ts';
import type { IdempotencyRecord, MeteredRequest, StoredAnswer } from '../store.ts';
import { bytea } from './connection.ts';

/** Selects the newest answer, also one that has just expired: a committed batch has decided on it. */
export const ANSWER = `SELECT ${answerColumns('$3')} FROM idempotency
  WHERE account_id = $1 AND idempotency_key = $2 ORDER BY made_ms DESC LIMIT 1`;

/** Selects the places, from 1, of the queries for which there is a record that counts. */
export const KNOWN_ANSWERS = `SELECT asked.place
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (account_id, idempotency_key, place)
  CROSS JOIN LATERAL (
    SELECT FROM idempotency
    WHERE account_id = asked.account_id AND idempotency_key = asked.idempotency_key
      AND made_ms > (SELECT ledger_clock_ms() - 86400000 OFFSET 0)
    LIMIT 1) AS kept`;

/**
 * Returns the answers for which there is a record that counts, with their places, and a row without a place if there is
 * none. Returns nothing if the writer's row is missing. It writes that row: a visible record is certain to be on this
 * server's disk, but the wait for the standbys may have been cut short. A standby that confirms this later commit has
 * the records. A statement of its own could reach another server.
 */
export const CONFIRMED_ANSWERS = `WITH confirmed AS (
    UPDATE writers SET used_at = now() WHERE writer_id = $1 RETURNING 1)
  SELECT answer.* FROM confirmed LEFT JOIN (
    SELECT asked.place, kept.*
    FROM unnest($2::text[], $3::text[], $4::bytea[]) WITH ORDINALITY
      AS asked (account_id, idempotency_key, hash, place)
    CROSS JOIN LATERAL (
      SELECT ${answerColumns('asked.hash')} FROM idempotency
      WHERE account_id = asked.account_id AND idempotency_key = asked.idempotency_key
        AND made_ms > (SELECT ledger_clock_ms() - 86400000 OFFSET 0)
      ORDER BY made_ms DESC LIMIT 1) AS kept) AS answer ON true`;

/** The record with these keys, to be selected or deleted. */
export const WITHDRAWN_ANSWER =
  'FROM idempotency WHERE account_id = $1 AND idempotency_key = $2 AND key_ids = $3';

/** A stored answer in the form of `COMMIT_BATCH`. Bytes are hexadecimal. */
export interface AnswerJson {
  readonly position: number;
  readonly requestHash: string;
  readonly keyIds: string;
  readonly createdMs: number;
  readonly body: string | null;
}

/** Returns the answers by position. */
export function answersOf(
  answers: readonly AnswerJson[] | null,
): ReadonlyMap<number, StoredAnswer> {
  return new Map(
    answers?.map(({ position, requestHash, keyIds, ...answer }) => {
      const bytes = {
        requestHash: Buffer.from(requestHash, 'hex'),
        keyIds: Buffer.from(keyIds, 'hex'),
      };
      return [position, toAnswer({ ...answer, ...bytes })];
    }),
  );
}

/** Returns the answer that a committed request has stored. */
export function madeAnswer({ keys, atMs, idempotency }: MeteredRequest): StoredAnswer {
  const { requestHash, body } = idempotency as IdempotencyRecord;
  return { requestHash, keyIds: keys.map(({ keyId }) => keyId), createdMs: atMs, body };
}

/** A request with an `Idempotency-Key`. */
interface KeyedRequest {
  readonly position: number;
  readonly request: MeteredRequest;
  readonly record: IdempotencyRecord;
  /** Position of its body among the bodies, from 1; null without a body. */
  readonly bodyAt: number | null;
}

export function keyedRequests(requests: readonly MeteredRequest[]): KeyedRequest[] {
  let bodies = 0;
  return requests.flatMap((request, position) => {
    const record = request.idempotency;
    if (!record) return [];
    return [{ position, request, record, bodyAt: record.body === null ? null : ++bodies }];
  });
}

/** Returns a record in the form that `COMMIT_BATCH` reads, without its body. */
export function recordColumns({ position, request, record, bodyAt }: KeyedRequest): object {
  return {
    position,
    account_id: request.accountId,
    idempotency_key: record.key,
    request_hash: bytea(record.requestHash),
    key_ids: bytea(joinKeyIds(request.keys)),
    created_ms: request.atMs,
    body_at: bodyAt,
  };
}

/** Idempotency records: how long they count, and their columns in both stores. */

import { concatBytes } from '../bytes.ts';
import { DAY_MS } from '../clock.ts';
import type { LedgerRow } from './ledger-row.ts';
import type { StoredAnswer } from './store.ts';

/** Length of a key ID. */
const KEY_ID_BYTES = 16;

/** Returns the time up to which records have expired: one that is 24 hours old no longer counts. */
export function expiredMs(nowMs: number): number {
  return nowMs - DAY_MS;
}

/** Returns the column `key_ids`: the key IDs one after another, 16 bytes each. */
export function joinKeyIds(rows: readonly LedgerRow[]): Buffer {
  return concatBytes(...rows.map(({ keyId }) => keyId));
}

/** The columns of a stored answer, as both databases return them. */
export interface AnswerRow {
  readonly requestHash: Uint8Array;
  readonly keyIds: Uint8Array;
  readonly createdMs: number;
  readonly body: string | null;
}

/** Returns the columns of `toAnswer`. `hash` is the parameter or column with the hash of the request that asks. */
export function answerColumns(hash: '?' | '$3' | 'asked.hash'): string {
  return `request_hash AS "requestHash", key_ids AS "keyIds", created_ms AS "createdMs",
    CASE WHEN request_hash = ${hash} THEN body END AS body`;
}

export function toAnswer({ requestHash, keyIds, createdMs, body }: AnswerRow): StoredAnswer {
  const count = keyIds.length / KEY_ID_BYTES;
  return {
    requestHash,
    keyIds: Array.from({ length: count }, (_, i) =>
      keyIds.subarray(i * KEY_ID_BYTES, (i + 1) * KEY_ID_BYTES),
    ),
    createdMs: Number(createdMs),
    body,
  };
}

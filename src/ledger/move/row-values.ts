/** Values that a store computes from a row, because no file holds them. */
import { DAY_MS } from '../../clock.ts';
import type { Value } from '../column-kinds.ts';
import type { TableName } from '../tables.ts';

/** Returns the day of an idempotency record in days since 1970. PostgreSQL keeps it in the slot of this day modulo 3. */
export function madeDay([, , madeMs]: readonly Value[]): number {
  return Math.floor(Number(madeMs) / DAY_MS);
}

/** Reports whether a table has the fingerprint, which no file holds. */
export function hasFingerprint(table: TableName): boolean {
  return table === 'ledger' || table === 'key_states';
}

/** Returns the fingerprint of a row: the first 64 bits of its commitment, which is the second column, signed. */
export function fingerprintOf(row: readonly Value[]): bigint {
  const [, commitment] = row as [unknown, Uint8Array];
  return new DataView(commitment.buffer, commitment.byteOffset).getBigInt64(0);
}

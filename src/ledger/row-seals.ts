/** The seals of a key's row: that of the first recipient has columns of its own, those of further ones share one. */
import { concatBytes } from '../bytes.ts';
import type { RowDelivery, RowSeal } from './ledger-row.ts';

const DIGEST_BYTES = 32;

/** Thumbprint and digest. */
export const SEAL_BYTES: number = 2 * DIGEST_BYTES;

/** A key has at most eight recipients. */
export const MAX_FURTHER_SEALS = 7;

/** The recipient of one sealed key, and its digest. */
type OneSeal = Pick<RowSeal, 'recipient' | 'digest'>;

export const NO_DELIVERY: RowDelivery = { deliveryId: null, deliveryContext: null };

/** Returns the seals of a row as its columns have them. */
export function toRowSeal(
  [first, ...others]: readonly [OneSeal, ...OneSeal[]],
  { deliveryId, deliveryContext }: RowDelivery = NO_DELIVERY,
): RowSeal {
  const { recipient, digest } = first;
  const parts = others.flatMap((one) => [one.recipient, one.digest]);
  const further = parts.length === 0 ? null : concatBytes(...parts);
  return { recipient, digest, further, deliveryId, deliveryContext };
}

/** Reports whether the copies of a key name all its recipients: it has several, or a delivery. */
export function isShared({ further, deliveryId, deliveryContext }: RowSeal): boolean {
  return further !== null || deliveryId !== null || deliveryContext !== null;
}

/** Returns the seals of a row, in the order of the request. Bytes that are no whole seal make a short one: no reader fails. */
export function sealsOf({ recipient, digest, further }: RowSeal): readonly OneSeal[] {
  const seals = [{ recipient, digest }];
  for (let at = 0; at < (further?.length ?? 0); at += SEAL_BYTES) {
    const seal = further?.subarray(at, at + SEAL_BYTES) ?? new Uint8Array(0);
    seals.push({
      recipient: seal.subarray(0, DIGEST_BYTES),
      digest: seal.subarray(DIGEST_BYTES),
    });
  }
  return seals;
}

/**
 * Finds the row of a commitment, in both stores. The database gets only the fingerprint, the first 64 bits,
 * and this code compares the rest. An attacker who can write to the database and had seen a whole commitment
 * could forge a row.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Commitment } from '../proof/index.ts';
import { keyIdMs } from './key-time.ts';

/**
 * Limit of rows read for one fingerprint, of any version. Among 10^12 sound keys, three share a fingerprint
 * with a probability below 10^-3, so more rows than this mean tampering.
 */
export const MAX_CANDIDATES = 16;

/** A row with the fingerprint in question. */
export interface Candidate {
  readonly keyId: Uint8Array;
  readonly commitment: Uint8Array;
  readonly version: number;
}

/** Returns the time of the first row of this commitment, from its key ID; null without a row. */
export function rowMadeMs(commitment: Commitment, candidates: readonly Candidate[]): number | null {
  const times = candidates
    .filter((one) => matches(commitment, one))
    .map(({ keyId }) => keyIdMs(keyId));
  return times.length === 0 ? null : Math.min(...times);
}

/** Compares a commitment with that of a row, in constant time. */
export function matches(
  { version, digest }: Commitment,
  candidate: Omit<Candidate, 'keyId'>,
): boolean {
  const { commitment } = candidate;
  return (
    commitment.length === digest.length &&
    timingSafeEqual(commitment, digest) &&
    candidate.version === version
  );
}

/**
 * How both stores find the row of a commitment. The database is asked by the fingerprint, the first 64 bits, and the
 * whole is compared here: a database that saw the commitment of a key would know what a forged row must hold.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Commitment } from '../proof/index.ts';
import { keyIdMs } from './key-time.ts';

/**
 * Rows that are looked at for one fingerprint, of any version. Among 10^12 sound keys three share a fingerprint
 * with a probability below 10^-3, so other hands have written a row that is beyond these.
 */
export const MAX_CANDIDATES = 16;

/** A row with the fingerprint that was asked for. */
export interface Candidate {
  readonly keyId: Uint8Array;
  readonly commitment: Uint8Array;
  readonly version: number;
}

/** When the first row of this commitment was made, by its key id; null without a row. */
export function rowMadeMs(commitment: Commitment, candidates: readonly Candidate[]): number | null {
  const times = candidates
    .filter((one) => isOf(commitment, one))
    .map(({ keyId }) => keyIdMs(keyId));
  return times.length === 0 ? null : Math.min(...times);
}

function isOf({ version, digest }: Commitment, candidate: Candidate): boolean {
  const { commitment } = candidate;
  return (
    commitment.length === digest.length &&
    timingSafeEqual(commitment, digest) &&
    candidate.version === version
  );
}

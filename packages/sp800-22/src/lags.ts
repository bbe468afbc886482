/**
 * Ones, and pairs of bits that differ at short distances: counts that add up over many sequences. A supplement: not part
 * of SP 800-22.
 */

/** Distances of the pairs: neighbours, those of bytes and words, and of a block of AES. */
export const LAGS = [1, 2, 3, 4, 8, 16, 32, 64, 128] as const;

export interface LagCounts {
  /** Length of the sequence in bits. */
  readonly bits: number;
  readonly ones: number;
  /** For each of `LAGS`: how many of the pairs (i, i + lag) within the sequence differ. */
  readonly differences: readonly number[];
}

/** Counts bits that are one per element. */
export function lagCounts(bits: Uint8Array): LagCounts {
  const n = bits.length;
  let ones = 0;
  for (const bit of bits) ones += bit;
  const differences = LAGS.map((lag) => {
    let count = 0;
    for (let i = 0; i + lag < n; i++) count += bits[i] ^ bits[i + lag];
    return count;
  });
  return { bits: n, ones, differences };
}

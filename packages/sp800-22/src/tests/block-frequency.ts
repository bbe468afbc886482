/**
 * Frequency test within a block. SP 800-22 Rev. 1a §2.2, §3.2.
 *
 * Is the share of ones near one half in every block of M bits?
 */
import { assertInteger, assertLengthBits, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';
import { countOnes } from './frequency.ts';

/**
 * The NIST program's default block length. §2.2.7 recommends M > 0.01 n and N < 100, which M = 128 meets only for
 * n < 12,800; we keep it for comparison with the program.
 */
export const BLOCK_FREQUENCY_M = 128;

/** §2.2.7 asks for n ≥ 100; the default M needs one whole block. */
export const BLOCK_FREQUENCY_MINIMUM_BITS = BLOCK_FREQUENCY_M;

export function blockFrequency(
  bits: Uint8Array,
  { M = BLOCK_FREQUENCY_M }: { M?: number } = {},
): TestResult {
  assertInteger('M', M, 1, 2 ** 26);
  assertLengthBits(bits, M);

  // Step 1: N = ⌊n / M⌋ blocks; the bits left over are discarded.
  const N = Math.floor(bits.length / M);

  // Step 2: π_i is the share of ones in block i. Σ (2·ones − M)² = 4M² Σ (π_i − 1/2)² is an integer.
  let sum = 0;
  for (let i = 0; i < N; i++) {
    const ones = countOnes(bits, i * M, (i + 1) * M);
    sum += (2 * ones - M) ** 2;
  }
  return judgeBlockFrequency(N, M, sum);
}

/** Computes the test from `sum` = Σ (2·ones − M)² over `N` blocks of `M` bits. */
export function judgeBlockFrequency(N: number, M: number, sum: number): TestResult {
  // Step 3: χ² = 4M Σ (π_i − 1/2)².
  const chi2 = sum / M;

  // Step 4: p = igamc(N/2, χ²/2).
  return { pValues: [igamc(N / 2, chi2 / 2)], statistics: { chi2, N, M } };
}

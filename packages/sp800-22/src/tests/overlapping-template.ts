/**
 * Overlapping template matching test. SP 800-22 Rev. 1a §2.8, §3.8.
 *
 * Does the pattern of m ones occur too often or too seldom when matches may overlap?
 */
import { type Constants, OVERLAPPING_TEMPLATE_PI } from '../constants.ts';
import { assertInteger, assertLengthBits, chiSquared, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';

/** §2.8.7: m = 9 or 10; the constants of the program are for 9. */
export const OVERLAPPING_m = 9;

/** §2.8.2: block length. */
export const OVERLAPPING_M = 1032;

/** §2.8.7. */
export const OVERLAPPING_MINIMUM_BITS = 1_000_000;

/**
 * Runs the test. The template B is m ones (§2.8.2). `pi` are the probabilities of 0, 1, …, K − 1 and at
 * least K matches in a block of M bits; the table has them only for the default m and M.
 */
export function overlappingTemplate(
  bits: Uint8Array,
  {
    m = OVERLAPPING_m,
    M = OVERLAPPING_M,
    constants = 'exact',
    pi,
  }: { m?: number; M?: number; constants?: Constants; pi?: readonly number[] } = {},
): TestResult {
  assertInteger('m', m, 1, 31);
  assertInteger('M', M, m, 2 ** 26);
  if (pi === undefined && (m !== OVERLAPPING_m || M !== OVERLAPPING_M)) {
    throw new RangeError(
      `"pi" expected class probabilities for m=${m}, M=${M}, got none (the table holds m=9, M=1032)`,
    );
  }
  const probabilities = pi ?? OVERLAPPING_TEMPLATE_PI[constants];
  assertLengthBits(bits, M);

  // Step 1: N blocks of M bits.
  const N = Math.floor(bits.length / M);

  // Step 2: ν_i counts the blocks with i matches, the last class those with K and more.
  const K = probabilities.length - 1;
  const nu = new Array<number>(K + 1).fill(0);
  for (let j = 0; j < N; j++) {
    nu[Math.min(K, countOverlapping(bits, j * M, (j + 1) * M, m))]++;
  }

  return judgeOverlapping(nu, { m, M, N, pi: probabilities });
}

/** Computes the test from the counts ν of the classes over N blocks of M bits. */
export function judgeOverlapping(
  nu: readonly number[],
  { m, M, N, pi }: { m: number; M: number; N: number; pi: readonly number[] },
): TestResult {
  const K = nu.length - 1;

  // Step 3: λ = (M − m + 1) / 2^m and η = λ/2, from which the text approximates π_i.
  const lambda = (M - m + 1) / 2 ** m;
  const eta = lambda / 2;

  // Step 4: χ² = Σ (ν_i − N π_i)² / (N π_i).
  const chi2 = chiSquared(nu, pi, N);

  // Step 5: p = igamc(K/2, χ²/2). (The example in §2.8.4 omits the second division.)
  return { pValues: [igamc(K / 2, chi2 / 2)], statistics: { m, M, N, lambda, eta, nu, chi2 } };
}

/** Counts the windows of m ones in [start, end): the positions where a run of ones is at least m long. */
function countOverlapping(bits: Uint8Array, start: number, end: number, m: number): number {
  let matches = 0;
  let run = 0;
  for (let i = start; i < end; i++) {
    run = bits[i] === 1 ? run + 1 : 0;
    if (run >= m) matches++;
  }
  return matches;
}

/**
 * Runs test. SP 800-22 Rev. 1a §2.3, §3.3.
 *
 * Does the sequence change between zeros and ones too often or too seldom?
 */
import type { TestDefinition } from '../definition.ts';
import { square } from '../elementary.ts';
import { assertLengthBits, type TestResult } from '../result.ts';
import { erfc } from '../special-functions.ts';
import { countOnes } from './frequency.ts';

export const runsTest: TestDefinition = {
  // §2.3.7.
  minimumBits: 100,
  run: runs,
  count: ({ n, onesAndRuns }) => judgeRuns(n, onesAndRuns.ones, onesAndRuns.V_n),
};

export function runs(bits: Uint8Array): TestResult {
  assertLengthBits(bits, 1);
  const n = bits.length;

  // Step 3, which does not depend on step 2: V_n = 1 + the number of changes.
  let V_n = 1;
  for (let k = 0; k < n - 1; k++) V_n += bits[k] ^ bits[k + 1];
  return judgeRuns(n, countOnes(bits), V_n);
}

/**
 * Computes the test from the number of ones and the number of runs V_n of `n` bits.
 * `statistics.prerequisite_met` is false, and p is 0, if the share of ones is already too far from 1/2.
 */
export function judgeRuns(n: number, ones: number, V_n: number): TestResult {
  // Step 1: π, the share of ones.
  const pi = ones / n;

  // Step 2: with |π − 1/2| ≥ τ = 2/√n the test is not run and p = 0. The NIST program says > τ; we follow
  // the text. In integers: (2·ones − n)² ≥ 16 n.
  const prerequisite_met = square(2 * ones - n) < 16 * n;
  if (!prerequisite_met) {
    return { pValues: [0], statistics: { ones, pi, V_n, prerequisite_met } };
  }

  // Step 4: p = erfc(|V_n − 2nπ(1 − π)| / (2 √(2n) π(1 − π))), with nπ(1 − π) = ones · zeros / n.
  const nSpread = (ones * (n - ones)) / n;
  const argument = Math.abs(V_n - 2 * nSpread) / (2 * Math.SQRT2 * (nSpread / Math.sqrt(n)));
  return { pValues: [erfc(argument)], statistics: { ones, pi, V_n, prerequisite_met } };
}

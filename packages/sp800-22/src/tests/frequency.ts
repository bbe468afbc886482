/**
 * Frequency (monobit) test. SP 800-22 Rev. 1a §2.1, §3.1.
 *
 * Are there about as many ones as zeros in the whole sequence?
 */
import { assertNumber } from '../arguments.ts';
import type { TestDefinition } from '../definition.ts';
import { assertLengthBits, type TestResult } from '../result.ts';
import { erfc } from '../special-functions.ts';

export const frequencyTest: TestDefinition = {
  // §2.1.7.
  minimumBits: 100,
  run: frequency,
  count: ({ n, onesAndRuns }) => judgeFrequency(n, onesAndRuns.ones),
};

export function frequency(bits: Uint8Array): TestResult {
  assertLengthBits(bits, 1);
  return judgeFrequency(bits.length, countOnes(bits));
}

/** Computes the test from the number of ones among `n` bits. */
export function judgeFrequency(n: number, ones: number): TestResult {
  assertNumber('n', n, 'a number above 0', (value) => value > 0 && value < Infinity);
  // Exact tails ask for halves of a bit, and for one more than there are.
  assertNumber('ones', ones, 'a number', Number.isFinite);
  // Step 1: zeros count −1, ones +1; S_n is their sum.
  const S_n = 2 * ones - n;

  // Step 2: s_obs = |S_n| / √n.
  const s_obs = Math.abs(S_n) / Math.sqrt(n);

  // Step 3: p = erfc(s_obs / √2).
  return { pValues: [erfc(s_obs * Math.SQRT1_2)], statistics: { S_n, s_obs } };
}

/** Counts the ones among the bits [start, end). */
export function countOnes(bits: Uint8Array, start = 0, end: number = bits.length): number {
  let ones = 0;
  for (let i = start; i < end; i++) ones += bits[i];
  return ones;
}

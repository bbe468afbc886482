/**
 * Maurer's "universal statistical" test. SP 800-22 Rev. 1a §2.9, §3.9.
 *
 * Can the sequence be compressed much? The measure is the distance to the last block with the same L bits.
 */

import { assertNumber, assertOptions, checkedLater, type Members } from '../arguments.ts';
import { UNIVERSAL_ROWS } from '../constants.ts';
import type { TestDefinition } from '../definition.ts';
import { log2, power } from '../elementary.ts';
import { assertBits, assertInteger, assertLengthBits, type TestResult } from '../result.ts';
import { erfc } from '../special-functions.ts';

/** §2.9.7: the suite uses L = 6 … 16, by sequence length. */
const SMALLEST_L = 6;
const LARGEST_L = 16;

export const universalTest: TestDefinition = {
  // §2.9.7: for L = 6.
  minimumBits: 387_840,
  run: (bits) => universal(bits),
  count: (counts) => {
    const L = universalBlockLength(counts.n);
    const Q = universalInitialBlocks(L);
    const K = Math.floor(counts.n / L) - Q;
    return judgeUniversal({ L, Q, K, sum: counts.sumOfLogDistances(L, Q, K) });
  },
  parameters: ({ L, Q, K }) => {
    const row = UNIVERSAL_ROWS.get(Number(L));
    const moments = row && { expected_value: row.expectedValue, variance: row.variance };
    return { L, Q, K, ...moments };
  },
};

interface UniversalOptions {
  readonly L?: number;
  readonly Q?: number;
  readonly sigma?: number;
}

const OPTIONS: Members<UniversalOptions> = {
  L: checkedLater,
  Q: checkedLater,
  sigma: (name, value) => assertNumber(name, value, 'a number above 0', (one) => one > 0),
};

/**
 * Runs the test. By default `L` and `Q` follow from the length (§2.9.7, Q = 10 · 2^L). `sigma` replaces
 * step 5's standard deviation of f_n, as the worked example of §2.9.4 does.
 */
export function universal(bits: Uint8Array, options: UniversalOptions = {}): TestResult {
  assertOptions('options', options, OPTIONS);
  assertBits(bits);
  const { L = universalBlockLength(bits.length), sigma: givenSigma } = options;
  assertInteger('L', L, 1, LARGEST_L);
  const { Q = universalInitialBlocks(L) } = options;
  assertInteger('Q', Q, 1, 2 ** 26);
  assertLengthBits(bits, (Q + 1) * L);
  // Step 1: Q blocks to initialise, K blocks to test; the remaining bits are discarded.
  const K = Math.floor(bits.length / L) - Q;

  // Steps 2 to 4: sum of log2 of the distance to the last block of the same value.
  const sum = sumOfLogDistances(bits, L, Q, K);
  return judgeUniversal({ L, Q, K, sum, ...(givenSigma !== undefined && { givenSigma }) });
}

/** Computes the test from the sum of log2 of the distances, over K blocks of L bits after the first Q. */
function judgeUniversal({
  L,
  Q,
  K,
  sum,
  givenSigma,
}: {
  L: number;
  Q: number;
  K: number;
  sum: number;
  givenSigma?: number;
}): TestResult {
  const row = UNIVERSAL_ROWS.get(L);
  if (row === undefined) throw new RangeError(`"L" expected a row of the table, got ${L}`);

  // Step 5: f_n = sum / K, and its standard deviation σ = c √(variance(L) / K).
  const f_n = sum / K;
  const c = 0.7 - 0.8 / L + ((4 + 32 / L) * power(K, -3 / L)) / 15;
  const sigma = givenSigma ?? c * Math.sqrt(row.variance / K);

  // Step 6: p = erfc(|(f_n − expectedValue(L)) / (√2 σ)|).
  const p = erfc(Math.abs(f_n - row.expectedValue) / (Math.SQRT2 * sigma));
  return { pValues: [p], statistics: { L, Q, K, sum, f_n, sigma } };
}

/** §2.9.7: returns Q = 10 · 2^L blocks, so that each value is likely to occur before it counts. */
export function universalInitialBlocks(L: number): number {
  return 10 * 2 ** L;
}

/** §2.9.7: returns the largest L whose minimum length the sequence reaches; 6 for shorter ones. */
export function universalBlockLength(n: number): number {
  let L = SMALLEST_L;
  while (L < LARGEST_L && n >= (UNIVERSAL_ROWS.get(L + 1)?.minimumBits ?? Infinity)) L++;
  return L;
}

/**
 * Returns the sum. T_j is the number of the last block (from 1) with value j, and 0 before its first
 * occurrence: the distance is then the block's own number, as in the NIST program.
 */
function sumOfLogDistances(bits: Uint8Array, L: number, Q: number, K: number): number {
  const T = new Uint32Array(2 ** L);
  let sum = 0;
  let lost = 0;
  for (let i = 1; i <= Q + K; i++) {
    let block = 0;
    for (let b = (i - 1) * L; b < i * L; b++) block = (block << 1) | bits[b];
    if (i > Q) {
      // Kahan summation: `lost` is the rounding error of the last addition. Without it p is off by 1e-10.
      const term = log2(i - T[block]) - lost;
      const next = sum + term;
      lost = next - sum - term;
      sum = next;
    }
    T[block] = i;
  }
  return sum;
}

/**
 * Random excursions variant test. SP 800-22 Rev. 1a §2.15, §3.15.
 *
 * How often does the random walk visit each of the states −9 … 9 in total? One p-value per state.
 */
import type { TestDefinition } from '../definition.ts';
import { assertLengthBits, type TestResult } from '../result.ts';
import { erfc } from '../special-functions.ts';
import { EXCURSIONS_MINIMUM_BITS, EXCURSIONS_MINIMUM_CYCLES } from './random-excursions.ts';

const FARTHEST = 9;

/** The order of the p-values. */
export const VARIANT_STATES: readonly number[] = [
  -9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9,
];

export const randomExcursionsVariantTest: TestDefinition = {
  minimumBits: EXCURSIONS_MINIMUM_BITS,
  minimumCycles: EXCURSIONS_MINIMUM_CYCLES,
  run: randomExcursionsVariant,
  count: ({ excursions: { J, xi } }) => judgeVariant(J, xi),
  labels: () => VARIANT_STATES.map((x) => `x=${x}`),
};

/**
 * Runs the test. It needs the same length and number of cycles J as the random excursions test; the
 * caller checks J. `statistics.xi` holds the visits in the order of the states.
 */
export function randomExcursionsVariant(bits: Uint8Array): TestResult {
  assertLengthBits(bits, 1);

  // Steps 1 to 3: the walk S_k, with a zero before and after it.
  const visits = new Uint32Array(2 * FARTHEST + 1);
  let S = 0;
  for (let i = 0; i < bits.length; i++) {
    S += 2 * bits[i] - 1;
    if (S >= -FARTHEST && S <= FARTHEST) visits[S + FARTHEST]++;
  }
  // J counts the returns to zero. The zero after the walk is one, unless the walk ends at zero.
  const J = visits[FARTHEST] + (S === 0 ? 0 : 1);

  // Step 4: ξ(x), the total visits to x.
  const xi = VARIANT_STATES.map((x) => visits[x + FARTHEST]);

  return judgeVariant(J, xi);
}

/** Computes the test from J and the total visits ξ to each state. */
function judgeVariant(J: number, xi: readonly number[]): TestResult {
  // Step 5: p(x) = erfc(|ξ(x) − J| / √(2J (4|x| − 2))).
  const pValues = VARIANT_STATES.map((x, i) =>
    erfc(Math.abs(xi[i] - J) / Math.sqrt(2 * J * (4 * Math.abs(x) - 2))),
  );
  return { pValues, statistics: { J, xi } };
}

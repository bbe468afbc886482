/**
 * Random excursions test. SP 800-22 Rev. 1a §2.14, §3.14.
 *
 * How often does the random walk visit each of the states −4 … 4 between two returns to zero? One
 * p-value per state.
 */
import type { TestDefinition } from '../definition.ts';
import { assertLengthBits, chiSquared, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';

/** §2.14.7. */
export const EXCURSIONS_MINIMUM_BITS = 1_000_000;

/** §2.14.4 (8) and §2.15: with fewer cycles the χ² approximation does not hold. */
export const EXCURSIONS_MINIMUM_CYCLES = 500;

/** The order of the p-values. */
export const EXCURSION_STATES = [-4, -3, -2, -1, 1, 2, 3, 4] as const;

/** Visits are counted as 0, 1, 2, 3, 4 and "5 or more" per cycle. */
const CLASSES = 6;
const FARTHEST = 4;

export const randomExcursionsTest: TestDefinition = {
  minimumBits: EXCURSIONS_MINIMUM_BITS,
  minimumCycles: EXCURSIONS_MINIMUM_CYCLES,
  run: randomExcursions,
  count: ({ excursions: { J, nu } }) => judgeExcursions(J, nu),
  labels: () => EXCURSION_STATES.map((x) => `x=${x}`),
};

/**
 * Runs the test for any number of cycles J; the caller checks J. `statistics.nu` has one row of six
 * counts per state, the rows joined.
 */
export function randomExcursions(bits: Uint8Array): TestResult {
  assertLengthBits(bits, 1);

  // Steps 1 to 5.
  const { J, nu } = countVisitsPerCycle(bits);
  return judgeExcursions(J, nu);
}

/** Computes the test from J and ν: one row of six counts per state, the rows joined. */
function judgeExcursions(J: number, nu: readonly number[]): TestResult {
  // Step 6: χ²(x) = Σ_k (ν_k(x) − J π_k(x))² / (J π_k(x)).
  const chi2 = PROBABILITIES.map((pi, state) =>
    chiSquared(nu.slice(state * CLASSES, (state + 1) * CLASSES), pi, J),
  );

  // Step 7: p(x) = igamc(5/2, χ²(x)/2).
  const pValues = chi2.map((value) => igamc((CLASSES - 1) / 2, value / 2));
  return { pValues, statistics: { J, nu, chi2 } };
}

/**
 * §3.14: returns π. With a = 1 − 1/(2|x|), π_0 = a, π_k = a^(k−1) / (4x²) for k = 1 … 4, and
 * π_5 = a^4 / (2|x|) for five and more visits.
 */
export function visitProbabilities(x: number): number[] {
  const a = 1 - 1 / (2 * Math.abs(x));
  const pi = [a];
  let power = 1;
  for (let k = 1; k < CLASSES - 1; k++) {
    pi.push(power / (4 * x * x));
    power *= a;
  }
  pi.push(power / (2 * Math.abs(x)));
  return pi;
}

const PROBABILITIES = EXCURSION_STATES.map(visitProbabilities);

/**
 * Steps 1 to 5: the walk S_k runs between two zeros, one before and one after it; each return to zero
 * ends a cycle. If S_n is already 0, the zero after it adds no cycle, because J counts the returns. (The
 * text is ambiguous; its program does the same.) ν_k(x) counts the cycles with k visits to x.
 */
function countVisitsPerCycle(bits: Uint8Array): { J: number; nu: number[] } {
  const nu = new Array<number>(EXCURSION_STATES.length * CLASSES).fill(0);
  const visits = new Uint32Array(2 * FARTHEST + 1);
  let J = 0;
  const endCycle = (): void => {
    J++;
    EXCURSION_STATES.forEach((x, state) => {
      nu[state * CLASSES + Math.min(CLASSES - 1, visits[x + FARTHEST])]++;
    });
    visits.fill(0);
  };
  let S = 0;
  for (let i = 0; i < bits.length; i++) {
    S += 2 * bits[i] - 1;
    if (S === 0) endCycle();
    else if (S >= -FARTHEST && S <= FARTHEST) visits[S + FARTHEST]++;
  }
  if (S !== 0) endCycle();
  return { J, nu };
}

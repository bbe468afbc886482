/** Exact tails of the tests that compare class counts with a χ² distribution. */
import { igamc } from '../../../sp800-22/src/index-node.ts';

const STEP = 0.05;
const CELLS = 1_800;
/** Counts further than this many standard deviations from the mean are ignored. */
const REACH = 9.5;

/**
 * Returns the probability that the p-value of `trials` trials is below a level, for class
 * probabilities `pi`.
 *
 * The counts are multinomial: independent Poisson counts, given their sum. The joint distribution of
 * (sum of counts, χ² so far) grows class by class, with χ² on a grid.
 */
export function classCountTail(trials: number, pi: readonly number[]): (level: number) => number {
  const law = chiSquaredLaw(trials, pi);
  return (level) => {
    const from = Math.ceil(criticalChiSquared(pi.length - 1, level) / STEP);
    return law.slice(from).reduce((sum, p) => sum + p, 0);
  };
}

/** Returns the distribution of χ² on the grid: cell j holds P(j·STEP − STEP/2 ≤ χ² < j·STEP + STEP/2). */
function chiSquaredLaw(trials: number, pi: readonly number[]): Float64Array {
  let law = new Float64Array((trials + 1) * CELLS);
  law[0] = 1;
  let used: [number, number] = [0, 0];
  for (const probability of pi) {
    const mean = trials * probability;
    const reach = REACH * Math.sqrt(mean) + 15;
    const [low, high] = [Math.max(0, Math.ceil(mean - reach)), Math.floor(mean + reach)];
    const next = new Float64Array(law.length);
    for (let k = low; k <= Math.min(high, trials); k++) {
      const weight = poisson(mean, k);
      const shift = Math.round((k - mean) ** 2 / mean / STEP);
      for (let sum = used[0]; sum <= Math.min(used[1], trials - k); sum++) {
        const [from, to] = [sum * CELLS, (sum + k) * CELLS];
        for (let j = 0; j + shift < CELLS; j++) next[to + j + shift] += weight * law[from + j];
      }
    }
    law = next;
    used = [used[0] + low, Math.min(trials, used[1] + high)];
  }
  const last = law.slice(trials * CELLS);
  const total = poisson(trials, trials);
  return last.map((p) => p / total);
}

/** Returns P(count = k) of a Poisson count with this mean. */
function poisson(mean: number, k: number): number {
  let logP = -mean;
  for (let i = 1; i <= k; i++) logP += Math.log(mean / i);
  return Math.exp(logP);
}

/** Returns the χ² value whose nominal tail is `level`. */
export function criticalChiSquared(degrees: number, level: number): number {
  return criticalValue((x) => igamc(degrees / 2, x / 2), level, 10 * degrees + 400);
}

/** Returns the x from 0 to `high` at which a falling function reaches `level`. */
export function criticalValue(nominal: (x: number) => number, level: number, high: number): number {
  let [below, above] = [0, high];
  for (let i = 0; i < 60; i++) {
    const middle = (below + above) / 2;
    if (nominal(middle) > level) below = middle;
    else above = middle;
  }
  return below;
}

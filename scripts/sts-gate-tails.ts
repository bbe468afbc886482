/**
 * How often the gate's level is really met: exact tails of the tests that compare counts of classes
 * with a χ² law, at n = 2^20, over the nominal tail. The law is asymptotic; where a class expects few
 * counts its far tail is too light, and a sound sample fails the gate more often than the level says.
 *
 *   node scripts/sts-gate-tails.ts
 *
 * Method: the counts are multinomial, that is independent Poisson counts on the condition of their
 * sum. Class by class, the joint law of (sum of counts, χ² so far) is carried along, χ² on a grid.
 */
import {
  LINEAR_COMPLEXITY_PI,
  LONGEST_RUN_ROWS,
  OVERLAPPING_TEMPLATE_PI,
} from '../src/sts/constants.ts';
import { igamc } from '../src/sts/index.ts';

const STEP = 0.05;
const CELLS = 1_800;
/** Tests that enter the gate with n = 2^20, and so the level at which one of them fails it. */
const GATE_TESTS = 13;
const LEVELS = [1e-2, 1e-4, 1e-6, 1e-6 / GATE_TESTS];
/** Counts further than this many standard deviations from their mean are left out. */
const REACH = 9.5;

// §3.5: probabilities of full rank and of rank 31 of a random 32 × 32 matrix.
const RANK_32 = 0.28878809515384113;
const RANK_31 = 0.5775761901732048;

const TESTS = [
  { name: 'longest_run', trials: 104, pi: LONGEST_RUN_ROWS[0].pi.exact },
  { name: 'linear_complexity', trials: 2_097, pi: LINEAR_COMPLEXITY_PI.exact },
  { name: 'overlapping_template', trials: 1_016, pi: OVERLAPPING_TEMPLATE_PI.exact },
  { name: 'rank', trials: 1_024, pi: [RANK_32, RANK_31, 1 - RANK_32 - RANK_31] },
];

/** P(count = k) of a Poisson count with this mean. */
function poisson(mean: number, k: number): number {
  let logP = -mean;
  for (let i = 1; i <= k; i++) logP += Math.log(mean / i);
  return Math.exp(logP);
}

/** The law of χ² on the grid: cell j holds P(j·STEP − STEP/2 ≤ χ² < j·STEP + STEP/2). */
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

/** The χ² value whose nominal tail is `level`. */
function criticalValue(degrees: number, level: number): number {
  let [low, high] = [0, 200];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (igamc(degrees / 2, middle / 2) > level) low = middle;
    else high = middle;
  }
  return low;
}

for (const { name, trials, pi } of TESTS) {
  const law = chiSquaredLaw(trials, pi);
  const factors = LEVELS.map((level) => {
    const from = Math.ceil(criticalValue(pi.length - 1, level) / STEP);
    const tail = law.slice(from).reduce((sum, p) => sum + p, 0);
    return `${level.toExponential(1)}: ${(tail / level).toFixed(2)}`;
  });
  const smallest = Math.min(...pi.map((p) => p * trials)).toFixed(1);
  process.stdout.write(`${name} (smallest expectation ${smallest})  ${factors.join('  ')}\n`);
}

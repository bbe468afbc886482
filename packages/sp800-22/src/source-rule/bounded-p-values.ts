/**
 * P-values whose tails hold however far out: for a sound source the probability that one is at most x is at most x, at every x
 * and every length. The p-values of the standard are asymptotic, and some are too small by orders of magnitude near 10^-9;
 * a minimum over thousands of sequences would then fail sound sources. Their statistics serve all the same:
 *
 * - `frequency`: the number of ones is binomial.
 * - `runs`: the changes between neighbours are binomial with n − 1 trials, whatever the share of ones: the test needs no
 *   prerequisite here.
 * - `cumulative_sums`: by reflection, P(max S_k ≥ z) = P(S_n ≥ z) + P(S_n > z); both signs together have at most twice that.
 * - `block_frequency`: χ² = Σ S_i² / M for sums S_i of M signs. E exp(t S²/M) ≤ (1 − 2t)^(−1/2), because the even moments of
 *   a sum of signs are at most those of a normal variable, so P(χ² ≥ x) ≤ (x/N)^(N/2) e^((N − x)/2) (Chernoff).
 * - `longest_run`, `rank`, `overlapping_template`, `linear_complexity`: the number of blocks in each class is binomial with the
 *   exact probability of the class; the smallest of K tails is multiplied by K.
 *
 * No such bound is known for the other tests: `sequence-counts.ts` counts them instead.
 */
import { binomialTwoSided, binomialUpper } from '../binomial.ts';
import type { TestName } from '../catalogue.ts';
import { LINEAR_COMPLEXITY_PI } from '../constants.ts';
import { exp, log } from '../elementary.ts';
import type { Statistics } from '../result.ts';
import type { SuiteReport } from '../suite.ts';
import { longestRunRow } from '../tests/longest-run.ts';
import { overlappingProbabilities } from '../tests/overlapping-template.ts';
import { RANK_PROBABILITIES } from '../tests/rank.ts';

/** One p-value of a test on one sequence. */
interface BoundedPValue {
  readonly test: TestName;
  readonly p: number;
}

type Bound = (statistics: Statistics, n: number) => readonly number[];

const BOUNDS: Readonly<Partial<Record<TestName, Bound>>> = {
  frequency: ({ S_n }, n) => [binomialTwoSided((n + Number(S_n)) / 2, n, 0.5)],
  runs: ({ V_n }, n) => [n < 2 ? 1 : binomialTwoSided(Number(V_n) - 1, n - 1, 0.5)],
  cumulative_sums: ({ z_forward, z_reverse }, n) =>
    [z_forward, z_reverse].map((z) => walkBound(Number(z), n)),
  block_frequency: ({ chi2, N }) => {
    const blocks = [N].flat();
    return [chi2].flat().map((x, i) => chiSquaredBound(Number(x), Number(blocks[i])));
  },
  longest_run: ({ nu }, n) => [classBound(nu, longestRunRow(n).pi.exact)],
  rank: ({ F_M, F_M1, F_less }) => [
    classBound([Number(F_M), Number(F_M1), Number(F_less)], RANK_PROBABILITIES),
  ],
  overlapping_template: ({ nu, m }) => [
    classBound(nu, overlappingProbabilities(Number(m), 'exact')),
  ],
  linear_complexity: ({ nu }) => [classBound(nu, LINEAR_COMPLEXITY_PI.exact)],
};

/** Returns the bounded p-values of a sequence. Their number depends only on the tests that apply. */
export function boundedPValues({ tests, bits }: SuiteReport): readonly BoundedPValue[] {
  return tests.flatMap((outcome) => {
    const bound = BOUNDS[outcome.name];
    if (!outcome.applicable || !bound) return [];
    return bound(outcome.statistics, bits).map((p) => ({ test: outcome.name, p }));
  });
}

/** Returns a bound of the probability that a walk of `n` steps ever is `z` or more from its start, on either side. */
export function walkBound(z: number, n: number): number {
  if (z <= 0) return 1;
  if (z > n) return 0;
  // S_n = 2 · ups − n has the parity of n.
  const ups = Math.ceil((n + z) / 2);
  const reached = binomialUpper(ups, n, 0.5);
  const passed = 2 * ups - n > z ? reached : ups < n ? binomialUpper(ups + 1, n, 0.5) : 0;
  return Math.min(1, 2 * (reached + passed));
}

/** Returns Chernoff's bound of the probability that χ² of `N` degrees is `x` or more. */
export function chiSquaredBound(x: number, N: number): number {
  return x <= N ? 1 : exp((N / 2) * log(x / N) + (N - x) / 2);
}

/** Returns a bound for the counts of classes with these probabilities. */
function classBound(counts: Statistics[string], probabilities: readonly number[]): number {
  const nu = counts as readonly number[];
  const total = nu.reduce((sum, count) => sum + count, 0);
  if (total === 0) return 1;
  const tails = nu.map((count, i) => binomialTwoSided(count, total, probabilities[i]));
  return Math.min(1, probabilities.length * Math.min(...tails));
}

/**
 * Computes how often a sound sample of 2^20 bits fails the gate: the exact tail of each test, relative to the
 * nominal one, and the sum.
 *
 *   node packages/lab/studies/sts-gate-tails.ts
 *
 * P-values come from asymptotic distributions. If a class expects few counts, the far tail of the distribution is
 * too light, and a sound sample fails the gate more often than the level says. The sum over the tests is an
 * estimate, not a bound: it takes two tests as nominal and two as normal with another variance.
 */

import {
  LINEAR_COMPLEXITY_PI,
  LONGEST_RUN_ROWS,
  OVERLAPPING_TEMPLATE_PI,
} from '../../sp800-22/src/constants.ts';
import { erfc } from '../../sp800-22/src/index-node.ts';
import { blockFrequencyTail, templateTail } from './gate-tails/blocks.ts';
import { classCountTail, criticalValue } from './gate-tails/class-counts.ts';
import { cumulativeSumsTail, frequencyTail, runsTail } from './gate-tails/walks.ts';

const N = 2 ** 20;

/** Levels for the gate. The last one is the gate's own. */
const GATE_LEVELS = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

/** Levels of a test at which docs/evidence/rates.txt counts rejections. */
const TEST_LEVELS = GATE_LEVELS.slice(0, 4);

// §3.5: probabilities of full rank and of rank 31 of a random 32 × 32 matrix.
const RANK_32 = 0.28878809515384113;
const RANK_31 = 0.5775761901732048;

interface Tail {
  readonly name: string;
  /** Returns the probability that a test's p-value is below the level for a sound sample. */
  readonly tail: (level: number) => number;
  readonly method: string;
}

/** Tail of a test with m p-values and Šidák's correction of the smallest: at most m times the tail of one p-value. */
function union(m: number, tail: (level: number) => number): (level: number) => number {
  return (level) => m * tail(-Math.expm1(Math.log1p(-level) / m));
}

/** Tail of a test whose normal distribution has a standard deviation too small by this ratio. */
function normalTail(ratio: number): (level: number) => number {
  return (level) => erfc(criticalValue(erfc, level, 12) * ratio);
}

const frequency: Tail = { name: 'frequency', tail: frequencyTail(N), method: 'exact' };
const blockFrequency: Tail = {
  name: 'block_frequency',
  tail: blockFrequencyTail(N / 128, 128),
  method: 'exact',
};
const runs: Tail = { name: 'runs', tail: runsTail(N), method: 'exact' };
const longestRun: Tail = {
  name: 'longest_run',
  tail: classCountTail(104, LONGEST_RUN_ROWS[0].pi.exact),
  method: 'exact',
};

/** Tests of the modulated stream. Their distributions are the same there. */
const MODULATED = [frequency, blockFrequency, runs, longestRun];

const nominal = (level: number) => level;

const CARRIER: readonly Tail[] = [
  frequency,
  blockFrequency,
  { name: 'cumulative_sums', tail: union(2, cumulativeSumsTail(N)), method: 'at most' },
  runs,
  longestRun,
  { name: 'rank', tail: classCountTail(N / 1024, rankClasses()), method: 'exact' },
  // The true variance is n · 0.95 · 0.05 / 3.76 (simulated at 2^17 bits), not / 4.
  { name: 'dft', tail: normalTail(Math.sqrt(3.76 / 4)), method: 'by its true variance' },
  {
    name: 'non_overlapping_template',
    tail: union(148, templateTail(8, N / 8, 9)),
    method: 'at most',
  },
  {
    name: 'overlapping_template',
    tail: classCountTail(Math.floor(N / 1032), OVERLAPPING_TEMPLATE_PI.exact),
    method: 'exact',
  },
  { name: 'universal', tail: normalTail(universalRatio()), method: 'by its true variance' },
  { name: 'approximate_entropy', tail: nominal, method: 'nominal' },
  { name: 'serial', tail: nominal, method: 'nominal' },
  {
    name: 'linear_complexity',
    tail: classCountTail(Math.floor(N / 500), LINEAR_COMPLEXITY_PI.exact),
    method: 'exact',
  },
];

function rankClasses(): number[] {
  return [RANK_32, RANK_31, 1 - RANK_32 - RANK_31];
}

/**
 * The standard's approximation of c(L, K) over its true value √(d(L) + e(L) · 2^L / K), for L = 7: Coron
 * and Naccache, "An Accurate Evaluation of Maurer's Universal Test" (SAC 1998).
 */
function universalRatio(): number {
  const L = 7;
  const K = Math.floor(N / L) - 10 * 2 ** L;
  const c = 0.7 - 0.8 / L + ((4 + 32 / L) * K ** (-3 / L)) / 15;
  return c / Math.sqrt(0.3631815 + (0.381321 * 2 ** L) / K);
}

const print = (...lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`);
const row = (...cells: string[]) => `| ${cells.join(' | ')} |`;

function head(first: string, levels: readonly number[], ...last: string[]): string[] {
  const cells = [first, ...levels.map((level) => level.toExponential(0)), ...last];
  return [row(...cells), row(...cells.map(() => '---'))];
}

/** Returns lines with the true tail of each carrier test relative to the nominal one, at levels divided by k. */
function factorLines(levels: readonly number[], k: number): string[] {
  const factor = (tail: Tail['tail'], level: number) => (tail(level / k) * k) / level;
  return CARRIER.map(({ name, tail, method }) =>
    row(name, ...levels.map((level) => factor(tail, level).toFixed(2)), method),
  );
}

/** Returns a line with the share of sound samples that fail the gate, by level. */
function rateLine(tests: readonly Tail[]): string {
  const k = tests.length;
  const rates = GATE_LEVELS.map((level) =>
    tests.reduce((sum, { tail }) => sum + tail(level / k), 0),
  );
  return row(`k = ${k}`, ...rates.map((rate) => rate.toExponential(2)));
}

const all = [...CARRIER, ...MODULATED];
print('True tail of each test over the nominal one, at a level of its own', '');
print(...head('Test', TEST_LEVELS, 'tail'), ...factorLines(TEST_LEVELS, 1));
print('', `The same at a level of the gate, divided by k = ${all.length}`, '');
print(...head('Test', GATE_LEVELS, 'tail'), ...factorLines(GATE_LEVELS, all.length));
print('', 'Estimated share of sound samples that the gate fails, by its level', '');
print(...head('Tests', GATE_LEVELS), rateLine(CARRIER), rateLine(all));

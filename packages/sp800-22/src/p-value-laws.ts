/**
 * The true distribution of the p-values of a sound source, test by test: what the second level compares
 * counts with.
 *
 * P-values are uniform only as the length of a sequence tends to infinity. At finite lengths some
 * statistics take few values, and some moments differ from those of the standard. The laws here are exact
 * for `frequency`, `cumulative_sums` and `rank`, and for `runs` and `block_frequency` on short sequences.
 * For `dft`, `universal` and `approximate_entropy` they use true moments. All other tests have the
 * uniform law. Both directions of `cumulative_sums` have the same law.
 *
 * `docs/evidence/second-level.md` compares the laws with simulations.
 */
import { exp, log, power, square } from './elementary.ts';
import type { SuiteParameters } from './parameters.ts';
import { ALPHA } from './pass-rule.ts';
import { erfc, igamc } from './special-functions.ts';
import { judgeBlockFrequency } from './tests/block-frequency.ts';
import { judgeCumulativeSums } from './tests/cumulative-sums.ts';
import { judgeDft } from './tests/dft.ts';
import { judgeFrequency } from './tests/frequency.ts';
import { RANK_M, RANK_PROBABILITIES } from './tests/rank.ts';
import { judgeRuns } from './tests/runs.ts';
import { universalBlockLength, universalInitialBlocks } from './tests/universal.ts';

/** §4.2.2: number of classes of p-values, each 0.1 wide. */
export const CLASSES = 10;

/** The probabilities of one p-value of a sound source. */
export interface PValueLaw {
  /** Probabilities of [0, 0.1), [0.1, 0.2) … [0.9, 1]. */
  readonly classes: readonly number[];
  /** Probability that p < `ALPHA`. */
  readonly belowAlpha: number;
  /** False if the law is an approximation. */
  readonly exact: boolean;
}

export const UNIFORM_LAW: PValueLaw = {
  classes: new Array<number>(CLASSES).fill(1 / CLASSES),
  belowAlpha: ALPHA,
  exact: false,
};

/** Returns the class of a p-value. */
export function classOf(p: number): number {
  return Math.min(CLASSES - 1, Math.floor(p * CLASSES));
}

/** A p-value of a test: position from 1. */
export interface PValueRow {
  readonly test: string;
  readonly index: number;
  readonly label: string;
}

type Law = (n: number, parameters: SuiteParameters, index: number) => PValueLaw;

const LAWS: Readonly<Record<string, Law>> = {
  frequency: frequencyLaw,
  block_frequency: (n, { blockFrequencyM }, index) =>
    blockFrequencyLaw(n, blockFrequencyM[index - 1]),
  cumulative_sums: cumulativeSumsLaw,
  runs: (n) => (n <= RUNS_LONGEST_BITS ? runsLaw(n) : UNIFORM_LAW),
  rank: rankLaw,
  dft: dftLaw,
  universal: universalLaw,
  approximate_entropy: (n, { approximateEntropyM }) =>
    approximateEntropyLaw(n, approximateEntropyM),
};

/** The laws of the last length asked for, by everything else that they depend on. */
const known = { n: 0, laws: new Map<string, PValueLaw>() };

/** Reports whether the p-values of a test have a law here that is not just uniform. */
export function hasLaw(test: string): boolean {
  return Object.hasOwn(LAWS, test);
}

/** Returns the law of a p-value for sequences of `n` bits that are long enough for its test. */
export function pValueLaw(
  { test, index }: PValueRow,
  n: number,
  parameters: SuiteParameters,
): PValueLaw {
  if (known.n !== n) {
    known.n = n;
    known.laws.clear();
  }
  const { blockFrequencyM, approximateEntropyM } = parameters;
  const key = `${test} ${blockFrequencyM[index - 1]} ${approximateEntropyM}`;
  const law = known.laws.get(key) ?? LAWS[test]?.(n, parameters, index) ?? UNIFORM_LAW;
  known.laws.set(key, law);
  return law;
}

/** Adds up the weights of p-values, and scales them to a sum of 1. */
class WeightedPValues {
  readonly #classes = new Array<number>(CLASSES).fill(0);
  #belowAlpha = 0;

  add(p: number, weight: number): void {
    this.#classes[classOf(p)] += weight;
    if (p < ALPHA) this.#belowAlpha += weight;
  }

  law(exact: boolean): PValueLaw {
    const total = this.#classes.reduce((sum, weight) => sum + weight, 0);
    const classes = this.#classes.map((weight) => weight / total);
    return { classes, belowAlpha: this.#belowAlpha / total, exact };
  }
}

/** Values further than this many standard deviations from the mean are ignored: below 10^-15 together. */
const REACH = 8.5;

/** Returns P(S_n = s) up to a common factor, for s = n mod 2, + 2, …, up to `REACH` standard deviations. */
function walkEnds(n: number): { s: number; weight: number }[] {
  const ends: { s: number; weight: number }[] = [];
  let weight = 1;
  for (let s = n % 2; s <= Math.min(n, REACH * Math.sqrt(n)); s += 2) {
    ends.push({ s, weight });
    // C(n, k) to C(n, k + 1) with k = (n + s) / 2 ones.
    weight *= (n - s) / (n + s + 2);
  }
  return ends;
}

/** §2.1: exact. */
function frequencyLaw(n: number): PValueLaw {
  const within = endsWithin(n);
  const pValue = (s: number): number => judgeFrequency(n, (n + s) / 2).pValues[0];
  return steppedLaw(n, pValue, (s) => 1 - within(s));
}

/** Exact law of p = `pValue`(x), which falls with an integer x up to `REACH`; `reached`(x) is the probability of x or more. */
function steppedLaw(
  n: number,
  pValue: (x: number) => number,
  reached: (x: number) => number,
): PValueLaw {
  return lawOf((level) => {
    let [low, high] = [0, Math.ceil(REACH * Math.sqrt(n)) + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (pValue(middle) < level) high = middle;
      else low = middle + 1;
    }
    return reached(low);
  }, true);
}

/** Returns the law for which `below`(level) is the probability that p < level. */
function lawOf(below: (level: number) => number, exact: boolean): PValueLaw {
  const sums = Array.from({ length: CLASSES - 1 }, (_, i) => below((i + 1) / CLASSES));
  const classes = [...sums, 1].map((sum, i) => sum - (i === 0 ? 0 : sums[i - 1]));
  return { classes, belowAlpha: below(ALPHA), exact };
}

/** Most blocks and longest block of `block_frequency` with an exact law; more would take long to compute. */
const EXACT_BLOCKS = 100;
const EXACT_BLOCK_LENGTH = 128;

/** Single values of a sum that are less likely are left out. */
const NEGLIGIBLE = 1e-20;

/** §2.2: exact for few short blocks, else uniform. The sum of (2·ones − M)² over the blocks is an integer. */
function blockFrequencyLaw(n: number, M: number): PValueLaw {
  const N = Math.floor(n / M);
  if (N > EXACT_BLOCKS || M > EXACT_BLOCK_LENGTH) return UNIFORM_LAW;
  const shares = new Map<number, number>();
  for (const [ones, weight] of binomialWeights(M, 0.5)) {
    const value = square(2 * ones - M);
    shares.set(value, (shares.get(value) ?? 0) + weight);
  }
  const likely = [...shares].filter(([, share]) => share > NEGLIGIBLE);
  // χ² = sum / M with N degrees; beyond this lie less than 10^-15.
  const most = Math.ceil(M * (N + 12 * Math.sqrt(2 * N) + 80));
  let law = new Float64Array(most + 1);
  law[0] = 1;
  for (let block = 0; block < N; block++) law = addValue(law, likely);
  const sum = new WeightedPValues();
  for (const [value, weight] of law.entries()) {
    if (weight > 0) sum.add(judgeBlockFrequency(N, M, value).pValues[0], weight);
  }
  return sum.law(true);
}

/** Returns the law of a sum, at most the last index, after another value is added. */
function addValue(
  law: Float64Array,
  value: readonly (readonly [more: number, share: number])[],
): Float64Array<ArrayBuffer> {
  const next = new Float64Array(law.length);
  for (let at = 0; at < law.length; at++) {
    if (law[at] < NEGLIGIBLE) continue;
    for (const [more, share] of value) {
      if (at + more < next.length) next[at + more] += law[at] * share;
    }
  }
  return next;
}

/**
 * §2.13: exact. By repeated reflection, P(max |S_k| < z) = Σ_j (−1)^j P((2j − 1) z < S_n < (2j + 1) z).
 */
function cumulativeSumsLaw(n: number): PValueLaw {
  const within = endsWithin(n);
  const pValue = (z: number): number =>
    z === 0 ? 1 : judgeCumulativeSums(n, { S: 0, highest: z, lowest: 0 }, 'exact').pValues[0];
  return steppedLaw(n, pValue, (z) => 1 - neverReaches(z, within));
}

/** Returns a function for P(|S_n| < x). */
function endsWithin(n: number): (x: number) => number {
  const ends = walkEnds(n);
  const total = ends.reduce((sum, { s, weight }) => sum + (s === 0 ? weight : 2 * weight), 0);
  const sums = [0];
  for (const { s, weight } of ends) {
    sums.push((sums.at(-1) as number) + (s === 0 ? weight : 2 * weight) / total);
  }
  // The ends below x: s = n mod 2, + 2, …
  return (x) => sums[Math.max(0, Math.min(sums.length - 1, Math.ceil((x - (n % 2)) / 2)))];
}

/** Returns P(max |S_k| < z). */
function neverReaches(z: number, within: (x: number) => number): number {
  let probability = within(z);
  // The strips j and −j, (2j − 1) z < |S_n| < (2j + 1) z, without their borders.
  for (let j = 1; ; j++) {
    const strip = within((2 * j + 1) * z) - within((2 * j - 1) * z + 1);
    if (strip <= 0) return probability;
    probability += j % 2 === 0 ? strip : -strip;
  }
}

/** Beyond this length the exact law takes long to compute, and the uniform one suits some thousand sequences. */
const RUNS_LONGEST_BITS = 9_999;

/**
 * §2.3: exact. Of the sequences with m ones, C(m−1, r−1) C(n−m−1, r−1) begin with a one and have V = 2r
 * runs; an odd V has one run more of the first value. The two constant sequences are left out.
 */
function runsLaw(n: number): PValueLaw {
  const logFactorial = logFactorials(n);
  const logChoose = (a: number, b: number): number =>
    b < 0 || b > a ? -Infinity : logFactorial[a] - logFactorial[b] - logFactorial[a - b];
  const sum = new WeightedPValues();
  const reach = REACH * Math.sqrt(n);
  for (let ones = Math.ceil(n / 2); ones < n && 2 * ones - n <= reach; ones++) {
    const zeros = n - ones;
    const both = ones === zeros ? 1 : 2;
    const middle = (2 * ones * zeros) / n;
    for (let V = Math.max(2, Math.floor(middle - reach)); V <= middle + reach; V++) {
      const [more, fewer] = [Math.ceil(V / 2), Math.floor(V / 2)];
      const startingWithOne = logChoose(ones - 1, more - 1) + logChoose(zeros - 1, fewer - 1);
      const startingWithZero = logChoose(ones - 1, fewer - 1) + logChoose(zeros - 1, more - 1);
      const weight = exp(startingWithOne - n * Math.LN2) + exp(startingWithZero - n * Math.LN2);
      if (weight > 0) sum.add(judgeRuns(n, ones, V).pValues[0], both * weight);
    }
  }
  return sum.law(true);
}

/** Returns ln k! for k ≤ n. */
function logFactorials(n: number): Float64Array {
  const table = new Float64Array(n + 1);
  for (let k = 2; k <= n; k++) table[k] = table[k - 1] + log(k);
  return table;
}

/** §2.5: exact. The numbers of matrices of full rank, of one less and of the rest are trinomial. */
function rankLaw(n: number): PValueLaw {
  const N = Math.floor(n / square(RANK_M));
  const [full, one, rest] = RANK_PROBABILITIES;
  const sum = new WeightedPValues();
  for (const [F_M, pFull] of binomialWeights(N, full)) {
    for (const [F_M1, pOne] of binomialWeights(N - F_M, one / (one + rest))) {
      const F_rest = N - F_M - F_M1;
      const chi2 =
        square(F_M - N * full) / (N * full) +
        square(F_M1 - N * one) / (N * one) +
        square(F_rest - N * rest) / (N * rest);
      // igamc(1, χ²/2).
      sum.add(exp(-chi2 / 2), pFull * pOne);
    }
  }
  return sum.law(true);
}

/** Returns each likely count k with its binomial probability. */
function binomialWeights(n: number, q: number): [k: number, weight: number][] {
  const mode = Math.min(n, Math.floor((n + 1) * q));
  const reach = REACH * Math.sqrt(n * q * (1 - q)) + 10;
  const weights: [number, number][] = [];
  let weight = 1;
  for (let k = mode; k >= Math.max(0, mode - reach); k--) {
    weights.push([k, weight]);
    weight *= (k / (n - k + 1)) * ((1 - q) / q);
  }
  weight = 1;
  for (let k = mode + 1; k <= Math.min(n, mode + reach); k++) {
    weight *= ((n - k + 1) / k) * (q / (1 - q));
    weights.push([k, weight]);
  }
  const total = weights.reduce((sum, [, each]) => sum + each, 0);
  return weights.map(([k, each]) => [k, each / total]);
}

/** Share of peaks below the threshold, P(E < t) with t = ln 20 for an exponential E of mean 1. */
const PEAKS_BELOW = 0.95;
const THRESHOLD = log(20);

/**
 * §2.6: N_1 with its true moments, rounded to integers.
 *
 * The squares of the n/2 peaks are exponential, but Parseval's theorem fixes their sum. This removes from
 * the variance of the indicator of E < t, 0.95 · 0.05, the part that E explains: (t e^(−t))². So the
 * divisor of §2.6.4 (7) is 3.79 instead of 4. The mean is that of n/2 such indicators within 0.01.
 */
function dftLaw(n: number): PValueLaw {
  const bins = Math.floor(n / 2);
  const explained = square(THRESHOLD * (1 - PEAKS_BELOW));
  const sigma = Math.sqrt((n / 2) * (PEAKS_BELOW * (1 - PEAKS_BELOW) - explained));
  const mean = PEAKS_BELOW * bins;
  const sum = new WeightedPValues();
  const low = Math.max(0, Math.floor(mean - REACH * sigma));
  const high = Math.min(bins, Math.ceil(mean + REACH * sigma));
  for (let N_1 = low; N_1 <= high; N_1++) {
    const x = (N_1 - mean) / sigma;
    sum.add(judgeDft(n, N_1, 'exact').pValues[0], exp((-x * x) / 2));
  }
  return sum.law(false);
}

/** Coron and Naccache, "An Accurate Evaluation of Maurer's Universal Test" (SAC 1998), table 1: d(L) and e(L). */
const UNIVERSAL_VARIANCE: ReadonlyMap<number, readonly [d: number, e: number]> = new Map([
  [6, [0.3489769, 0.3941338]],
  [7, [0.3631815, 0.381321]],
  [8, [0.3732189, 0.3730195]],
  [9, [0.3800637, 0.3677118]],
  [10, [0.3845867, 0.3643695]],
  [11, [0.3874942, 0.3622979]],
  [12, [0.3893189, 0.3610336]],
  [13, [0.3904405, 0.3602731]],
  [14, [0.3911178, 0.3598216]],
  [15, [0.3915202, 0.3595571]],
  [16, [0.3917561, 0.359404]],
]);

/** §2.9: normal with the true variance, c(L, K)² = d(L) + e(L) · 2^L / K, instead of §2.9.4 (5). */
function universalLaw(n: number): PValueLaw {
  const L = universalBlockLength(n);
  const K = Math.floor(n / L) - universalInitialBlocks(L);
  const [d, e] = UNIVERSAL_VARIANCE.get(L) ?? [0, 0];
  const c = 0.7 - 0.8 / L + ((4 + 32 / L) * power(K, -3 / L)) / 15;
  const ratio = c / Math.sqrt(d + (e * 2 ** L) / K);
  return continuousLaw(erfc, (x) => erfc(x * ratio), 12);
}

/**
 * §2.12: 2n (ln 2 − ApEn(m)) is a difference of two likelihood ratios, of 2^(m+1) and 2^m equal classes.
 * By Williams' correction (Biometrika 63, 1976) such a ratio of k classes is 1 + (k + 1) / 6n times χ², so the
 * statistic is about 1 + 2^m / 2n times χ² with 2^m degrees.
 */
function approximateEntropyLaw(n: number, m: number): PValueLaw {
  const degrees = 2 ** m;
  const factor = 1 + degrees / (2 * n);
  const tail = (x: number): number => igamc(degrees / 2, x / 2);
  return continuousLaw(tail, (x) => tail(x / factor), 10 * degrees);
}

/** Law of p = `nominal`(x) for a statistic x from 0 to `most` whose true tail is `tail`(x). Both decrease. */
function continuousLaw(
  nominal: (x: number) => number,
  tail: (x: number) => number,
  most: number,
): PValueLaw {
  return lawOf((level) => tail(criticalValue(nominal, level, most)), false);
}

/** Returns the x from 0 to `most` at which a falling function reaches `level`. */
function criticalValue(falling: (x: number) => number, level: number, most: number): number {
  let [low, high] = [0, most];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (falling(middle) > level) low = middle;
    else high = middle;
  }
  return low;
}

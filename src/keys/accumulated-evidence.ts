/**
 * Evidence that adds up over the samples of one generator: what no single sample can show.
 *
 * A share of ones of 0.501 moves the ones of a sample by two standard deviations, and a gate with few false alarms lets
 * nearly all of them pass, for ever. Over many samples it grows. For the ones, and for the pairs of bits at each of `LAGS`, a sound sample of n bits is
 * binomial with probability 1/2. Against a deviation d of that probability, the likelihood ratio of a sample with k of n,
 *
 *     L = (1 + 2d)^k · (1 − 2d)^(n − k),
 *
 * has the mean 1. The statistic of Shiryaev (1963) and Roberts (1966), R ← (1 + R) · L from 0, forgets good samples, so it
 * also finds a defect that begins late. R minus the number of samples is a martingale. Stopped at a limit c, or after N
 * samples, R has a mean of N at most, so a sound generator reaches c within N samples with probability N / c at most. R here
 * is the mean over ten deviations, and L is cut at 10^6, which both keep this bound. The cut leaves a single bad sample to the
 * gate, which draws a second one.
 *
 * It holds sums, and nothing of the samples.
 */
import { LAGS, type LagCounts } from '#sp800-22';

/** Deviations d, of both signs. A deviation between two of them is found almost as soon. */
export const DEVIATIONS: readonly number[] = [
  2 ** -9,
  2 ** -10,
  2 ** -11,
  2 ** -12,
  2 ** -13,
].flatMap((d) => [d, -d]);

/** The largest L of one sample. */
const MAX_LIKELIHOOD = 1e6;

/** The statistics by name. */
export const ACCUMULATED_TESTS: readonly string[] = [
  'accumulated_ones',
  ...LAGS.map((lag) => `accumulated_lag_${lag}`),
];

/**
 * R at which generation stops. Over N samples of a sound generator the probability of it is 10 · N / 10^16 at most: 10^-6 for
 * 10^9 validated keys, and 0.0003 for ten years of 1,000 a second.
 */
export const ACCUMULATED_LIMIT = 1e16;

/** R at which the log has a warning: 1,000 times as likely. */
export const ACCUMULATED_WARNING = 1e13;

/** A statistic that has reached a limit. */
export interface Accumulated {
  /** One of `ACCUMULATED_TESTS`. */
  readonly test: string;
  /** R, rounded to two digits. */
  readonly evidence: number;
  /** Samples of this generator since it was started. */
  readonly samples: number;
  readonly isDefect: boolean;
}

/** Returns L of `k` of `n` against the deviation `d`, cut at a million. */
export function likelihoodRatio(k: number, n: number, d: number): number {
  return Math.min(Math.exp(k * Math.log1p(2 * d) + (n - k) * Math.log1p(-2 * d)), MAX_LIKELIHOOD);
}

export class AccumulatedEvidence {
  readonly #statistics = ACCUMULATED_TESTS.map((test) => new Statistic(test));
  #samples = 0;

  /** Adds a sample. Returns the statistics that reach the limit, or the warning since they were last below it. */
  add({ bits, ones, differences }: LagCounts): Accumulated[] {
    this.#samples += 1;
    const [ofOnes, ...ofLags] = this.#statistics;
    ofOnes.add(ones, bits);
    for (const [i, statistic] of ofLags.entries()) statistic.add(differences[i], bits - LAGS[i]);
    return this.#statistics.flatMap((statistic) => statistic.take(this.#samples) ?? []);
  }
}

class Statistic {
  readonly #test: string;
  /** R for each deviation. */
  readonly #evidence = new Float64Array(DEVIATIONS.length);
  #isWarned = false;

  constructor(test: string) {
    this.#test = test;
  }

  /** Adds `k` of `n`. */
  add(k: number, n: number): void {
    for (const [i, d] of DEVIATIONS.entries()) {
      this.#evidence[i] = (1 + this.#evidence[i]) * likelihoodRatio(k, n, d);
    }
  }

  /** Returns the statistic if it is at the limit, or newly at the warning. */
  take(samples: number): Accumulated | null {
    const evidence = this.#evidence.reduce((sum, one) => sum + one) / DEVIATIONS.length;
    const isNew = !this.#isWarned;
    this.#isWarned = evidence >= ACCUMULATED_WARNING;
    const isDefect = evidence >= ACCUMULATED_LIMIT;
    if (!isDefect && !(this.#isWarned && isNew)) return null;
    return { test: this.#test, evidence: Number(evidence.toPrecision(2)), samples, isDefect };
  }
}

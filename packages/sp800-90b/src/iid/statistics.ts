/**
 * The 19 statistics of the permutation tests: NIST SP 800-90B §5.1.1 to §5.1.11, those with a lag
 * for lags of 1, 2, 8, 16 and 32. https://doi.org/10.6028/NIST.SP.800-90B
 */

import {
  collisions,
  covariance,
  directionalRuns,
  excursion,
  medianRuns,
  periodicity,
} from './_counts.ts';
import { DecimalCompressor } from './compression.ts';

export const STATISTIC_NAMES = [
  'excursion',
  'directional_runs',
  'directional_run_length',
  'increases_decreases',
  'median_runs',
  'median_run_length',
  'average_collision',
  'maximum_collision',
  'periodicity_1',
  'periodicity_2',
  'periodicity_8',
  'periodicity_16',
  'periodicity_32',
  'covariance_1',
  'covariance_2',
  'covariance_8',
  'covariance_16',
  'covariance_32',
  'compression',
] as const;

export type StatisticName = (typeof STATISTIC_NAMES)[number];

const LAGS = [1, 2, 8, 16, 32];

const [RUNS, COLLISIONS, PERIODICITY, COVARIANCE, COMPRESSION] = [1, 6, 8, 13, 18];
const MEDIAN_RUNS = 4;

/** Eight bits become one sample in the conversions of §5.1. */
const CONVERTED_BITS = 8;

/**
 * Computes the statistics of permutations of one data set. Memory is that of the longest permutation,
 * and `wipe` zeroes it.
 */
export class Statistics {
  /** Mean of the samples, the same for all permutations. */
  readonly mean: number;
  /** Median of the samples; 1/2 for binary samples (§5.1.5). */
  readonly median: number;
  readonly #isBinary: boolean;
  /** The two values of binary samples. */
  readonly #zero: number;
  readonly #compressor = new DecimalCompressor();
  readonly #bits: Uint8Array;
  readonly #sums: Uint8Array;
  readonly #numbers: Uint8Array;

  constructor(samples: Uint8Array) {
    const counts = new Float64Array(256);
    for (let i = 0; i < samples.length; i++) counts[samples[i]]++;
    const values = [...counts.keys()].filter((value) => counts[value] > 0);
    this.mean = values.reduce((sum, value) => sum + value * counts[value], 0) / samples.length;
    this.#isBinary = values.length === 2;
    this.#zero = values[0];
    this.median = this.#isBinary ? 0.5 : medianOf(counts, samples.length);
    const converted = this.#isBinary ? Math.ceil(samples.length / CONVERTED_BITS) : 0;
    this.#bits = new Uint8Array(this.#isBinary ? samples.length : 0);
    this.#sums = new Uint8Array(converted);
    this.#numbers = new Uint8Array(converted);
  }

  /**
   * Returns the statistics of a permutation of the samples in the order of `STATISTIC_NAMES`, without
   * those that are not wanted.
   */
  compute(samples: Uint8Array, isWanted: readonly boolean[]): Float64Array {
    const results = new Float64Array(STATISTIC_NAMES.length);
    const wants = (from: number, to: number): boolean => isWanted.slice(from, to).includes(true);
    if (this.#isBinary && wants(RUNS, COMPRESSION)) this.#convert(samples);
    const converted = this.#isBinary ? this.#sums : samples;
    if (isWanted[0]) results[0] = excursion(samples, this.mean);
    if (wants(RUNS, MEDIAN_RUNS)) results.set(directionalRuns(converted), RUNS);
    if (wants(MEDIAN_RUNS, COLLISIONS)) {
      results.set(medianRuns(this.#isBinary ? this.#bits : samples, this.median), MEDIAN_RUNS);
    }
    if (wants(COLLISIONS, PERIODICITY)) {
      results.set(collisions(this.#isBinary ? this.#numbers : samples), COLLISIONS);
    }
    LAGS.forEach((lag, i) => {
      if (isWanted[PERIODICITY + i]) results[PERIODICITY + i] = periodicity(converted, lag);
      if (isWanted[COVARIANCE + i]) results[COVARIANCE + i] = covariance(converted, lag);
    });
    if (isWanted[COMPRESSION]) results[COMPRESSION] = this.#compressor.length(samples);
    return results;
  }

  /** Conversion I counts the ones of each eight bits, conversion II reads them as a number. */
  #convert(samples: Uint8Array): void {
    const [bits, sums, numbers, zero] = [this.#bits, this.#sums, this.#numbers, this.#zero];
    let number = 0;
    let sum = 0;
    for (let i = 0; i < samples.length; i++) {
      const bit = samples[i] === zero ? 0 : 1;
      bits[i] = bit;
      number |= bit << (7 - (i & 7));
      sum += bit;
      if ((i & 7) === 7 || i === samples.length - 1) {
        numbers[i >> 3] = number;
        sums[i >> 3] = sum;
        number = 0;
        sum = 0;
      }
    }
  }

  /** Zeroes everything derived from the samples. */
  wipe(): void {
    for (const memory of [this.#bits, this.#sums, this.#numbers]) memory.fill(0);
    this.#compressor.wipe();
  }
}

/** Returns the middle sample in order, or the mean of the two in the middle. */
function medianOf(counts: Float64Array, length: number): number {
  const valueAt = (place: number): number => {
    let below = 0;
    return counts.findIndex((count) => {
      below += count;
      return below > place;
    });
  };
  const half = Math.floor(length / 2);
  return length % 2 === 1 ? valueAt(half) : (valueAt(half) + valueAt(half - 1)) / 2;
}

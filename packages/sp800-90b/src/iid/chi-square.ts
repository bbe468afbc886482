/** The chi-square tests of independence and goodness of fit: SP 800-90B §5.2.1 to §5.2.4. */
import { power, square } from '../../../sp800-22/src/elementary.ts';
import { chiSquareTail } from './_chi-square-tail.ts';

/** §5.2: p-values below this fail. Each test fails sound samples with about this probability. */
export const ALPHA = 0.001;

/** Smallest expected count of a bin. */
const LEAST_EXPECTED = 5;

/** §5.2.2, §5.2.4: subsets of the samples. */
const SUBSETS = 10;

/** §5.2.3: the longest tuples of bits. */
const LONGEST_TUPLE = 11;

export interface ChiSquareResult {
  /** T: the sum of (observed − expected)² / expected. */
  readonly statistic: number;
  readonly degreesOfFreedom: number;
  readonly pValue: number;
  readonly passed: boolean;
}

/** Tests symbols from 0 to `alphabetSize` − 1, each of which occurs. */
export function independenceTest(symbols: Uint8Array, alphabetSize: number): ChiSquareResult {
  return alphabetSize === 2 ? binaryIndependence(symbols) : pairIndependence(symbols, alphabetSize);
}

export function goodnessOfFitTest(symbols: Uint8Array, alphabetSize: number): ChiSquareResult {
  return alphabetSize === 2 ? binaryFit(symbols) : symbolFit(symbols, alphabetSize);
}

function judge(statistic: number, degreesOfFreedom: number): ChiSquareResult {
  const pValue = chiSquareTail(statistic, degreesOfFreedom);
  return { statistic, degreesOfFreedom, pValue, passed: pValue >= ALPHA };
}

/** §5.2.1: counts of pairs of symbols that do not overlap. */
function pairIndependence(symbols: Uint8Array, alphabetSize: number): ChiSquareResult {
  const proportions = proportionsOf(symbols, alphabetSize);
  const pairs = Math.floor(symbols.length / 2);
  const expected = new Float64Array(alphabetSize * alphabetSize);
  for (let i = 0; i < expected.length; i++) {
    const first = Math.floor(i / alphabetSize);
    expected[i] = proportions[first] * proportions[i % alphabetSize] * pairs;
  }
  const bins = allocateBins(expected);
  const observed = new Float64Array(bins.expected.length);
  for (let i = 0; i + 1 < symbols.length; i += 2) {
    observed[bins.binOf[symbols[i] * alphabetSize + symbols[i + 1]]]++;
  }
  return judge(distance(observed, bins.expected), observed.length - alphabetSize);
}

/** §5.2.2: counts of the symbols in ten subsets. */
function symbolFit(symbols: Uint8Array, alphabetSize: number): ChiSquareResult {
  const size = Math.floor(symbols.length / SUBSETS);
  const proportions = proportionsOf(symbols, alphabetSize);
  const bins = allocateBins(proportions.map((proportion) => proportion * size));
  let statistic = 0;
  for (let subset = 0; subset < SUBSETS; subset++) {
    const observed = new Float64Array(bins.expected.length);
    for (let i = subset * size; i < (subset + 1) * size; i++) observed[bins.binOf[symbols[i]]]++;
    statistic += distance(observed, bins.expected);
  }
  return judge(statistic, (SUBSETS - 1) * (bins.expected.length - 1));
}

/**
 * §5.2.3: counts of tuples of m bits. For m < 2 nothing is tested, and the test passes, as in NIST's
 * program.
 */
function binaryIndependence(bits: Uint8Array): ChiSquareResult {
  const p1 = onesIn(bits, 0, bits.length) / bits.length;
  const p0 = 1 - p1;
  const least = Math.min(p0, p1);
  let m = LONGEST_TUPLE;
  while (m > 1 && power(least, m) * Math.floor(bits.length / m) < LEAST_EXPECTED) m--;
  if (m < 2) return judge(0, 0);
  const tuples = Math.floor(bits.length / m);
  const observed = new Float64Array(2 ** m);
  for (let i = 0; i < tuples; i++) {
    let tuple = 0;
    for (let j = 0; j < m; j++) tuple = 2 * tuple + bits[i * m + j];
    observed[tuple]++;
  }
  const expected = observed.map((_, tuple) => {
    const ones = onesOf(tuple);
    return power(p1, ones) * power(p0, m - ones) * tuples;
  });
  return judge(distance(observed, expected), 2 ** m - 2);
}

/** §5.2.4: the ones and zeros of ten subsets. */
function binaryFit(bits: Uint8Array): ChiSquareResult {
  const size = Math.floor(bits.length / SUBSETS);
  const p = onesIn(bits, 0, bits.length) / bits.length;
  const expected = Float64Array.of((1 - p) * size, p * size);
  let statistic = 0;
  for (let subset = 0; subset < SUBSETS; subset++) {
    const ones = onesIn(bits, subset * size, (subset + 1) * size);
    statistic += distance(Float64Array.of(size - ones, ones), expected);
  }
  return judge(statistic, SUBSETS - 1);
}

/**
 * Returns the share of each symbol, added up sample by sample as in NIST's program: the last digits
 * decide which of nearly equal expectations comes first, and so the bins.
 */
export function proportionsOf(symbols: Uint8Array, alphabetSize: number): Float64Array {
  const proportions = new Float64Array(alphabetSize);
  const share = 1 / symbols.length;
  for (let i = 0; i < symbols.length; i++) proportions[symbols[i]] += share;
  return proportions;
}

interface Bins {
  readonly binOf: Int32Array;
  readonly expected: readonly number[];
}

/** §5.2.1.1: joins events, the rarest first, into bins that expect at least five. */
function allocateBins(expected: Float64Array): Bins {
  const order = Array.from(expected.keys()).sort((a, b) => expected[a] - expected[b] || a - b);
  const binOf = new Int32Array(expected.length);
  const sums: number[] = [0];
  for (const event of order) {
    if (sums[sums.length - 1] >= LEAST_EXPECTED) sums.push(0);
    binOf[event] = sums.length - 1;
    sums[sums.length - 1] += expected[event];
  }
  if (sums.length > 1 && sums[sums.length - 1] < LEAST_EXPECTED) {
    const rest = sums.pop() ?? 0;
    sums[sums.length - 1] += rest;
    for (const event of order) binOf[event] = Math.min(binOf[event], sums.length - 1);
  }
  return { binOf, expected: sums };
}

function distance(observed: Float64Array, expected: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < observed.length; i++) sum += square(observed[i] - expected[i]) / expected[i];
  return sum;
}

function onesIn(bits: Uint8Array, from: number, to: number): number {
  let ones = 0;
  for (let i = from; i < to; i++) ones += bits[i];
  return ones;
}

function onesOf(tuple: number): number {
  let ones = 0;
  for (let rest = tuple; rest > 0; rest >>= 1) ones += rest & 1;
  return ones;
}

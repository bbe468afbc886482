/**
 * Autocorrelation at many lags. A supplement: not part of SP 800-22.
 *
 * Does the sequence resemble itself some places further on? With X_i = ±1, the sum A(d) = Σ X_i X_(i+d) has n − d terms,
 * which for a sound source are independent: (A(d) + n − d) / 2 is binomial. The largest |A(d)| / √(n − d) is judged, with
 * Šidák's correction for the number of lags. The sums of different lags are uncorrelated; docs/evidence has simulations.
 */
import { binomialTwoSided } from '../binomial.ts';
import type { SupplementDefinition } from '../definition.ts';
import { expm1, log1p, square } from '../elementary.ts';
import { assertInteger, assertLengthBits, type TestResult } from '../result.ts';
import { erfc } from '../special-functions.ts';
import { fourierTransform, type Spectrum } from '../tests/fourier.ts';

/**
 * Our choice: 2,560 lags. With 1,000 bits, 11.4 % instead of 10 % of the p-values of sound sequences are above 0.9
 * (docs/evidence/supplements.txt).
 */
const MINIMUM_BITS = 10_240;

/** Our choice: the largest lag. */
const MAXIMUM_LAGS = 2 ** 16;

export const autocorrelationSupplement: SupplementDefinition = {
  minimumBits: MINIMUM_BITS,
  run: autocorrelation,
  count: (counts) => {
    const lags = lagsFor(counts.n);
    const sums =
      counts.autocorrelations(lags) ?? counts.unpacked((bits) => autocorrelations(bits, lags));
    return judgeAutocorrelation(counts.n, sums);
  },
  // The tail of one lag is binomial; as many lags have at most so many times the probability.
  bound: ({ lags, lag, A }, n) => {
    const terms = n - Number(lag);
    return Math.min(1, Number(lags) * binomialTwoSided((terms + Number(A)) / 2, terms, 0.5));
  },
};

/** Returns the number of lags: at most a quarter of the sequence, so that every sum has many terms. */
function lagsFor(n: number): number {
  return Math.min(MAXIMUM_LAGS, Math.floor(n / 4));
}

function autocorrelation(bits: Uint8Array): TestResult {
  assertLengthBits(bits, MINIMUM_BITS);
  return judgeAutocorrelation(bits.length, autocorrelations(bits, lagsFor(bits.length)));
}

/** Computes the result from A(1), A(2), … of `n` bits, at indices 0, 1, …. */
function judgeAutocorrelation(n: number, sums: ArrayLike<number>): TestResult {
  const lags = sums.length;
  let lag = 1;
  let largest = 0;
  for (let d = 1; d <= lags; d++) {
    const squared = square(sums[d - 1]) / (n - d);
    if (squared > largest) {
      largest = squared;
      lag = d;
    }
  }
  const A = sums[lag - 1];
  const z = A / Math.sqrt(n - lag);
  // The smallest of `lags` p-values, corrected as in `testLevelP`.
  const p = 0 - expm1(lags * log1p(-erfc(Math.abs(z) * Math.SQRT1_2)));
  return { pValues: [p], statistics: { lags, lag, A, z } };
}

/**
 * Returns A(1) to A(lags), exact integers. Blocks of B ≥ lags bits are transformed with as many zeros behind them. A bit
 * meets bits of its own block and of the next, whose transform is shifted by B places: its bins are times (−1)^k.
 */
export function autocorrelations(bits: Uint8Array, lags: number): Int32Array {
  assertInteger('lags', lags, 1, bits.length - 1);
  let B = 16;
  while (B < lags) B *= 2;
  const re = new Float64Array(2 * B);
  const im = new Float64Array(2 * B);
  let previous: Spectrum | undefined;
  for (let start = 0; start < bits.length; start += B) {
    const block = transformOfBlock(bits.subarray(start, start + B), B);
    if (previous) addProducts(re, im, previous, block);
    addSquares(re, block);
    if (previous) wipe(previous);
    previous = block;
  }
  if (previous) wipe(previous);
  // The inverse of a transform is the conjugate of the transform of the conjugate, here up to the sign of the lag.
  const sums = fourierTransform(re, im, 2 * B);
  const result = Int32Array.from({ length: lags }, (_, i) =>
    Math.round(sums.re[2 * B - 1 - i] / (2 * B)),
  );
  wipe(sums);
  return result;
}

function transformOfBlock(bits: Uint8Array, B: number): Spectrum {
  const re = new Float64Array(2 * B);
  for (let i = 0; i < bits.length; i++) re[i] = 2 * bits[i] - 1;
  return fourierTransform(re, new Float64Array(2 * B), 2 * B);
}

function addSquares(re: Float64Array, u: Spectrum): void {
  for (let k = 0; k < re.length; k++) re[k] += square(u.re[k]) + square(u.im[k]);
}

/** Adds conj(u) · v · (−1)^k. */
function addProducts(re: Float64Array, im: Float64Array, u: Spectrum, v: Spectrum): void {
  for (let k = 0; k < re.length; k++) {
    const sign = k % 2 === 0 ? 1 : -1;
    re[k] += sign * (u.re[k] * v.re[k] + u.im[k] * v.im[k]);
    im[k] += sign * (u.re[k] * v.im[k] - u.im[k] * v.re[k]);
  }
}

function wipe({ re, im }: Spectrum): void {
  re.fill(0);
  im.fill(0);
}

/**
 * Exact tails of the binomial distribution, as sums of its probabilities from the tail's near end.
 *
 * A single probability comes from its saddle point (C. Loader, "Fast and Accurate Computation of Binomial Probabilities",
 * 2000): the differences that decide are computed as such, so that it needs no logarithm for each trial. The relative error
 * is below 1e-11 up to n = 10^6; `test/sp800-22/binomial.test.ts` checks it with rational arithmetic.
 */
import { exp, log, log1p } from './elementary.ts';
import { assertInteger } from './result.ts';

/** Counts of bits are exact up to here. */
const MAX_TRIALS = Number.MAX_SAFE_INTEGER;

/** Returns P(X ≤ k) for X ~ Binomial(n, q), 0 < q < 1. Throws `RangeError` outside 0 ≤ k ≤ n. */
export function binomialLower(k: number, n: number, q: number): number {
  assertArguments(k, n, q);
  if (k === n) return 1;
  // Above the mean the tail is about 1/2 or more, so its complement loses no digits.
  return k > n * q ? 1 - upwardSum(k + 1, n, q) : downwardSum(k, n, q);
}

/** Returns P(X ≥ k) for X ~ Binomial(n, q), 0 < q < 1. Throws `RangeError` outside 0 ≤ k ≤ n. */
export function binomialUpper(k: number, n: number, q: number): number {
  assertArguments(k, n, q);
  if (k === 0) return 1;
  return k < n * q ? 1 - downwardSum(k - 1, n, q) : upwardSum(k, n, q);
}

/**
 * Returns twice the smaller of the tails at k, at most 1: a p-value of the count whose probability to be at most x never
 * exceeds x, however small x is.
 */
export function binomialTwoSided(k: number, n: number, q: number): number {
  return Math.min(1, 2 * (k > n * q ? binomialUpper(k, n, q) : binomialLower(k, n, q)));
}

/** Returns P(X = k) + P(X = k + 1) + … for k at or above the mean, where the terms decrease. */
function upwardSum(k: number, n: number, q: number): number {
  let term = 1;
  let sum = 0;
  for (let j = k; j <= n && term > sum * 1e-17; j++) {
    sum += term;
    term *= ((n - j) / (j + 1)) * (q / (1 - q));
  }
  return Math.min(1, sum * probability(k, n, q));
}

/** Returns P(X = k) + P(X = k − 1) + … for k at or below the mean, where the terms decrease. */
function downwardSum(k: number, n: number, q: number): number {
  let term = 1;
  let sum = 0;
  for (let j = k; j >= 0 && term > sum * 1e-17; j--) {
    sum += term;
    term *= (j / (n - j + 1)) * ((1 - q) / q);
  }
  return Math.min(1, sum * probability(k, n, q));
}

/** Returns P(X = k) = C(n, k) q^k (1 − q)^(n−k). */
function probability(k: number, n: number, q: number): number {
  if (k === 0) return exp(n * log1p(-q));
  if (k === n) return exp(n * log(q));
  const exponent =
    stirlingError(n) -
    stirlingError(k) -
    stirlingError(n - k) -
    deviance(k, n * q) -
    deviance(n - k, n * (1 - q));
  return exp(exponent) * Math.sqrt(n / (2 * Math.PI * k * (n - k)));
}

/** Beyond this the series of `stirlingError` has all digits of a double. */
const SERIES_FROM = 16;

/** ln k! − ln(√(2πk) (k/e)^k) for k below `SERIES_FROM`. */
const STIRLING_ERRORS: readonly number[] = Array.from({ length: SERIES_FROM }, (_, k) => {
  let factorial = 1;
  for (let j = 2; j <= k; j++) factorial *= j;
  return k === 0 ? 0 : log(factorial) - 0.5 * log(2 * Math.PI * k) - k * log(k) + k;
});

/** Returns ln k! − ln(√(2πk) (k/e)^k), by Stirling's series. */
function stirlingError(k: number): number {
  if (k < SERIES_FROM) return STIRLING_ERRORS[k];
  const s = 1 / (k * k);
  return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / k;
}

/** Returns x ln(x / m) + m − x, by a series where its terms would cancel. */
function deviance(x: number, m: number): number {
  const difference = x - m;
  if (Math.abs(difference) >= 0.1 * (x + m)) return x * log(x / m) - difference;
  const v = difference / (x + m);
  let sum = difference * v;
  let power = 2 * x * v;
  for (let j = 3; ; j += 2) {
    power *= v * v;
    const next = sum + power / j;
    if (next === sum) return sum;
    sum = next;
  }
}

function assertArguments(k: number, n: number, q: number): void {
  assertInteger('n', n, 1, MAX_TRIALS);
  assertInteger('k', k, 0, n);
  if (!(q > 0 && q < 1)) throw new RangeError(`"q" expected a number between 0 and 1, got ${q}`);
}

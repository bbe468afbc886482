/**
 * Exact tails of the binomial distribution, as sums of its probabilities from the tail's near end.
 *
 * The relative error is below 1e-11 up to n = 10^6; `test/sp800-22/binomial.test.ts` checks it with
 * rational arithmetic.
 */
import { exp, log, log1p } from './elementary.ts';
import { assertInteger } from './result.ts';

/** More trials than any assessment has sequences; the sums stay exact enough far beyond. */
const MAX_TRIALS = 2 ** 31;

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

/** Returns P(X = k) = C(n, k) q^k (1 − q)^(n−k), through its logarithm. */
function probability(k: number, n: number, q: number): number {
  const choices = Math.min(k, n - k);
  let logarithm = k * log(q) + (n - k) * log1p(-q);
  for (let j = 1; j <= choices; j++) logarithm += log((n - choices + j) / j);
  return exp(logarithm);
}

function assertArguments(k: number, n: number, q: number): void {
  assertInteger('n', n, 1, MAX_TRIALS);
  assertInteger('k', k, 0, n);
  if (!(q > 0 && q < 1)) throw new RangeError(`"q" expected a number between 0 and 1, got ${q}`);
}

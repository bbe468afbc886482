/** Compares binomial tails with rational arithmetic. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  binomialLower,
  binomialTwoSided,
  binomialUpper,
} from '../../packages/sp800-22/src/binomial.ts';

const RELATIVE_BOUND = 1e-11;

/** Returns P(X ≤ k) and P(X ≥ k) for q = 1 / denominator, from ratios of integers. */
function exactTails(k: number, n: number, denominator: number): [lower: number, upper: number] {
  const others = BigInt(denominator - 1);
  let term = others ** BigInt(n);
  let lower = 0n;
  let upper = 0n;
  for (let j = 0; j <= n; j++) {
    if (j <= k) lower += term;
    if (j >= k) upper += term;
    term = (term * BigInt(n - j)) / (BigInt(j + 1) * others);
  }
  const all = BigInt(denominator) ** BigInt(n);
  return [ratio(lower, all), ratio(upper, all)];
}

/** Returns a / b with 60 bits, for results down to 1e-300. */
function ratio(a: bigint, b: bigint): number {
  const shift = BigInt(Math.max(0, b.toString(2).length - a.toString(2).length + 60));
  return Number((a << shift) / b) * 2 ** -Number(shift);
}

function assertClose(actual: number, expected: number, name: string): void {
  const error = Math.abs(actual / expected - 1);
  assert.ok(error < RELATIVE_BOUND, `${name} = ${actual}, expected ${expected}`);
}

test('the binomial tails are exact in simple cases: two coin throws, one die', () => {
  assertClose(binomialLower(0, 2, 0.5), 0.25, 'no heads');
  assertClose(binomialLower(1, 2, 0.5), 0.75, 'at most one');
  assertClose(binomialUpper(1, 2, 0.5), 0.75, 'at least one');
  assertClose(binomialUpper(1, 1, 1 / 6), 1 / 6, 'a six');
  assert.equal(binomialLower(2, 2, 0.5), 1);
  assert.equal(binomialUpper(0, 2, 0.5), 1);
});

test('the binomial tails are within 1e-11 relative of rational arithmetic at q = 1/100', () => {
  for (const n of [55, 100, 1000]) {
    for (const k of [0, 1, 2, 5, 9, 10, 11, 20, 40, 55]) {
      const [lower, upper] = exactTails(k, n, 100);
      assertClose(binomialLower(k, n, 0.01), lower, `P(X <= ${k}), n = ${n}`);
      assertClose(binomialUpper(k, n, 0.01), upper, `P(X >= ${k}), n = ${n}`);
    }
  }
});

test('the binomial tails of fair bits are within 1e-11 relative of rational arithmetic, down to 1e-300', () => {
  for (const n of [16, 17, 100, 4096]) {
    for (const k of [0, 1, n / 4, n / 2 - 1, n / 2, n / 2 + 40, n - 1].map(Math.floor)) {
      const [lower, upper] = exactTails(Math.min(n, k), n, 2);
      if (lower > 1e-300)
        assertClose(binomialLower(Math.min(n, k), n, 0.5), lower, `k = ${k}, n = ${n}`);
      if (upper > 1e-300)
        assertClose(binomialUpper(Math.min(n, k), n, 0.5), upper, `k = ${k}, n = ${n}`);
    }
  }
});

test('the two-sided tail is twice the smaller one, at most 1', () => {
  assertClose(binomialTwoSided(0, 10, 0.5), 2 * 2 ** -10, 'no heads');
  assertClose(binomialTwoSided(10, 10, 0.5), 2 * 2 ** -10, 'all heads');
  assert.equal(binomialTwoSided(5, 10, 0.5), 1);
});

test('a billion trials: six standard deviations from the mean, as the normal law with its correction of 1/2', () => {
  const n = 2 ** 30;
  const k = n / 2 + 6 * 2 ** 14;
  // P(Z ≥ 6 − 1/2 · 2^-14) by its series.
  const z = 6 - 0.5 / 2 ** 14;
  const normal =
    (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI) / z) *
    (1 - 1 / z ** 2 + 3 / z ** 4 - 15 / z ** 6 + 105 / z ** 8 - 945 / z ** 10);
  const ratio = binomialUpper(k, n, 0.5) / normal;
  assert.ok(Math.abs(ratio - 1) < 2e-4, `ratio ${ratio}`);
});

test('the binomial tails add up at every k: P(X ≤ k) + P(X ≥ k + 1) = 1', () => {
  const cases = fc.tuple(
    fc.integer({ min: 2, max: 1e6 }),
    fc.double({ min: 0.001, max: 0.999, noNaN: true }),
  );
  fc.assert(
    fc.property(cases, fc.double({ min: 0, max: 0.999, noNaN: true }), ([n, q], share) => {
      const k = Math.floor(share * n);
      const sum = binomialLower(k, n, q) + binomialUpper(k + 1, n, q);
      assert.ok(Math.abs(sum - 1) < 1e-8, `n=${n}, k=${k}, q=${q}: ${sum}`);
    }),
    { numRuns: 50 },
  );
});

test('the binomial tails reject arguments without a binomial distribution', () => {
  assert.throws(() => binomialLower(3, 2, 0.5), RangeError);
  assert.throws(() => binomialUpper(-1, 2, 0.5), RangeError);
  assert.throws(() => binomialUpper(1, 2, 1), RangeError);
  assert.throws(() => binomialLower(1, 2, NaN), RangeError);
});

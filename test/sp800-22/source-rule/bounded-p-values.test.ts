/** For every sequence or every table of counts: a bounded p-value is at most x with a probability of at most x. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  blockFrequency,
  cumulativeSums,
  frequency,
  runs,
  type Statistics,
  type SuiteReport,
  type TestName,
} from '#sp800-22';
import { LINEAR_COMPLEXITY_PI } from '../../../packages/sp800-22/src/constants.ts';
import {
  boundedPValues,
  walkBound,
} from '../../../packages/sp800-22/src/source-rule/bounded-p-values.ts';
import { expectedComplexity } from '../../../packages/sp800-22/src/tests/linear-complexity.ts';
import { RANK_PROBABILITIES } from '../../../packages/sp800-22/src/tests/rank.ts';

/** Relative errors of sums and tails. */
const ROUNDING = 1 + 1e-9;

/** Returns the bounded p-values of a test with these statistics. */
function boundsOf(name: TestName, statistics: Statistics, bits: number): number[] {
  const outcome = { name, applicable: true, pValues: [], statistics, passed: true };
  const report = { bits, tests: [outcome] } as unknown as SuiteReport;
  return boundedPValues(report).map(({ p }) => p);
}

/** Asserts that the p-values of all outcomes, with their probabilities, are at most x with a probability of at most x. */
function assertBounded(outcomes: readonly (readonly [p: number, probability: number])[]): void {
  const sorted = [...outcomes].sort((a, b) => a[0] - b[0]);
  let sum = 0;
  let i = 0;
  while (i < sorted.length) {
    const p = sorted[i][0];
    for (; i < sorted.length && sorted[i][0] <= p * (1 + 1e-12); i++) sum += sorted[i][1];
    assert.ok(sum <= p * ROUNDING, `P(p <= ${p}) = ${sum}`);
  }
  assert.ok(Math.abs(sum - 1) < 1e-9, `the probabilities sum to ${sum}`);
}

/** Calls `compute` with every sequence of `n` bits. */
function forAll(n: number, compute: (bits: Uint8Array) => number): [number, number][] {
  return Array.from({ length: 2 ** n }, (_, value) => {
    const bits = Uint8Array.from({ length: n }, (__, i) => (value >>> i) & 1);
    return [compute(bits), 2 ** -n];
  });
}

for (const n of [1, 2, 7, 12]) {
  test(`of all sequences of ${n} bits, the p-values of frequency, runs and cumulative_sums are bounded`, () => {
    const statistics = {
      frequency: (bits: Uint8Array) => frequency(bits).statistics,
      runs: (bits: Uint8Array) => runs(bits).statistics,
      cumulative_sums: (bits: Uint8Array) => cumulativeSums(bits).statistics,
    };
    for (const [name, of] of Object.entries(statistics)) {
      const which = name === 'cumulative_sums' ? [0, 1] : [0];
      for (const i of which) {
        assertBounded(forAll(n, (bits) => boundsOf(name as TestName, of(bits), n)[i]));
      }
    }
  });
}

test('the p-values of frequency and runs are exact two-sided tails: 2/2^n for the constant sequences of n bits', () => {
  const zeros = new Uint8Array(100);
  const [ofOnes] = boundsOf('frequency', frequency(zeros).statistics, 100);
  assert.ok(Math.abs(ofOnes / 2 ** -99 - 1) < 1e-12, `got ${ofOnes}`);
  const [ofRuns] = boundsOf('runs', runs(zeros).statistics, 100);
  assert.ok(Math.abs(ofRuns / 2 ** -98 - 1) < 1e-12, `got ${ofRuns}`);
});

test('of all sequences of 12 bits, the p-values of block_frequency are bounded, for each of two block lengths', () => {
  for (const M of [2, 4]) {
    assertBounded(
      forAll(
        12,
        (bits) => boundsOf('block_frequency', blockFrequency(bits, { M }).statistics, 12)[0],
      ),
    );
  }
  const both = { chi2: [6, 3], N: [6, 3], M: [2, 4] };
  assert.equal(boundsOf('block_frequency', both, 12).length, 2);
});

/** Returns every way to put `total` into `classes` counts. */
function compositions(total: number, classes: number): number[][] {
  if (classes === 1) return [[total]];
  return Array.from({ length: total + 1 }, (_, first) =>
    compositions(total - first, classes - 1).map((rest) => [first, ...rest]),
  ).flat();
}

function multinomial(counts: readonly number[], probabilities: readonly number[]): number {
  let [result, trials] = [1, 0];
  for (const [i, count] of counts.entries()) {
    for (let k = 1; k <= count; k++) result *= (++trials / k) * probabilities[i];
  }
  return result;
}

test('of all counts of blocks by class, the p-values of rank and linear_complexity are bounded', () => {
  const ranks = compositions(38, 3).map(([F_M, F_M1, F_less]): [number, number] => [
    boundsOf('rank', { F_M, F_M1, F_less }, 38_912)[0],
    multinomial([F_M, F_M1, F_less], RANK_PROBABILITIES),
  ]);
  assertBounded(ranks);
  const complexities = compositions(8, 7).map((nu): [number, number] => [
    boundsOf('linear_complexity', { nu }, 1e6)[0],
    multinomial(nu, LINEAR_COMPLEXITY_PI.exact),
  ]);
  assertBounded(complexities);
});

test('the class probabilities of linear_complexity hold for odd and for even block lengths', () => {
  for (const M of [13, 14, 500, 501]) {
    const classes = new Array<number>(7).fill(0);
    // §3.10: 2^min(2M − 2L, 2L − 1) of the 2^M blocks have complexity L > 0, and one has 0.
    for (let L = 0; L <= M; L++) {
      const share = L === 0 ? 2 ** -M : 2 ** (Math.min(2 * M - 2 * L, 2 * L - 1) - M);
      const T = (M % 2 === 0 ? 1 : -1) * (L - expectedComplexity(M)) + 2 / 9;
      classes[Math.min(6, Math.max(0, Math.ceil(T + 2.5)))] += share;
    }
    for (const [i, share] of classes.entries()) {
      const difference = Math.abs(share - LINEAR_COMPLEXITY_PI.exact[i]);
      assert.ok(difference < Math.max(1e-14, 2 ** -(M - 3)), `M = ${M}, class ${i}: ${share}`);
    }
  }
});

test('the bound of a walk is at least the share of the walks that go so far, and at most twice as much', () => {
  const n = 14;
  const farthest = forAll(n, (bits) => {
    const { highest, lowest } = bits.reduce(
      ({ S, highest, lowest }, bit) => {
        const next = S + 2 * bit - 1;
        return { S: next, highest: Math.max(highest, next), lowest: Math.min(lowest, next) };
      },
      { S: 0, highest: 0, lowest: 0 },
    );
    return Math.max(highest, -lowest);
  });
  for (let z = 1; z <= n; z++) {
    const share = farthest.filter(([distance]) => distance >= z).length / 2 ** n;
    const bound = walkBound(z, n);
    assert.ok(bound >= share / ROUNDING, `z = ${z}: bound ${bound}, share ${share}`);
    assert.ok(
      bound <= Math.min(1, 2 * share) * ROUNDING,
      `z = ${z}: bound ${bound}, share ${share}`,
    );
  }
  assert.equal(walkBound(0, n), 1);
  assert.equal(walkBound(n + 1, n), 0);
});

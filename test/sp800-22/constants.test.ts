/** Compares `packages/sp800-22/src/constants.ts` and the closed forms of the tests with first principles. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  linearComplexityProbabilities,
  longestRunProbabilities,
  overlappingTemplateApproximation,
  overlappingTemplateProbabilities,
  universalMoments,
} from '../../packages/lab/studies/sts-constants.ts';
import {
  DFT_T2_OVER_N,
  LINEAR_COMPLEXITY_PI,
  LONGEST_RUN_ROWS,
  OVERLAPPING_TEMPLATE_PI,
  UNIVERSAL_ROWS,
} from '../../packages/sp800-22/src/constants.ts';
import { visitProbabilities } from '../../packages/sp800-22/src/tests/random-excursions.ts';
import { rankProbabilities } from '../../packages/sp800-22/src/tests/rank.ts';

function assertClose(actual: readonly number[], expected: readonly number[], bound: number): void {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, i) => {
    assert.ok(Math.abs(value - expected[i]) <= bound, `[${i}]: ${value}, expected ${expected[i]}`);
  });
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

for (const { M, shortest, longest, pi } of LONGEST_RUN_ROWS) {
  test(`holds the counted longest-run probabilities for M = ${M} (§3.4)`, () => {
    assertClose(pi.exact, longestRunProbabilities(M, shortest, longest), 0);
  });
}

test('counts the longest runs of all 256 bytes as in the table for M = 8 (§2.4.4)', () => {
  const counts = [0, 0, 0, 0];
  for (let byte = 0; byte < 256; byte++) {
    const longest = Math.max(
      ...byte
        .toString(2)
        .split('0')
        .map(({ length }) => length),
    );
    counts[Math.min(4, Math.max(1, longest)) - 1]++;
  }
  const row = LONGEST_RUN_ROWS.find(({ M }) => M === 8);
  assert.deepEqual(
    row?.pi.exact,
    counts.map((count) => count / 256),
  );
});

test('differs from the four digits printed for M = 10,000 by up to 0.0016 (§2.4.4)', () => {
  const row = LONGEST_RUN_ROWS.find(({ M }) => M === 10_000);
  assert.ok(row);
  const differences = row.pi.nist.map((value, i) => Math.abs(value - row.pi.exact[i]));
  assert.equal(Math.max(...differences).toFixed(4), '0.0016');
});

test('holds the counted overlapping-template probabilities (Hamano and Kaneko)', () => {
  assertClose(OVERLAPPING_TEMPLATE_PI.exact, overlappingTemplateProbabilities(9, 1032, 5), 0);
});

test("holds the NIST program's approximation of the overlapping-template probabilities (§3.8)", () => {
  assertClose(OVERLAPPING_TEMPLATE_PI.nist, overlappingTemplateApproximation(9, 1032, 5), 1e-16);
});

test('counts overlapping templates like an enumeration of all ten-bit strings', () => {
  const counts = new Array<number>(6).fill(0);
  for (let value = 0; value < 1024; value++) {
    let matches = 0;
    for (let i = 0; i < 9; i++) if (((value >> i) & 3) === 3) matches++;
    counts[Math.min(5, matches)]++;
  }
  const expected = counts.map((count) => count / 1024);
  assert.deepEqual(overlappingTemplateProbabilities(2, 10, 5), expected);
});

test('holds the linear-complexity probabilities counted for M = 500 and M = 1001 (§3.10)', () => {
  assertClose(LINEAR_COMPLEXITY_PI.exact, linearComplexityProbabilities(500), 1e-17);
  assertClose(LINEAR_COMPLEXITY_PI.exact, linearComplexityProbabilities(1001), 1e-17);
});

test('holds the DFT threshold T² = n ln 20, which the NIST program rounds (§2.6.4)', () => {
  assert.equal(DFT_T2_OVER_N.exact, Math.log(20));
  assert.equal(DFT_T2_OVER_N.nist, Number(Math.log(20).toFixed(9)));
});

test('holds the universal moments as printed: rounded, but for 3.238 at L = 8 (§2.9.4)', () => {
  assert.equal(UNIVERSAL_ROWS.size, 16);
  for (const [L, { expectedValue, variance }] of UNIVERSAL_ROWS) {
    const exact = universalMoments(L);
    const decimals = L < 11 ? 7 : 6;
    assert.equal(expectedValue, Number(exact.expectedValue.toFixed(decimals)), `mean, L = ${L}`);
    const rounded = Number(exact.variance.toFixed(3));
    assert.equal(variance, L === 8 ? 3.238 : rounded, `variance, L = ${L}`);
    assert.equal(variance === rounded, L !== 8, `variance, L = ${L}`);
  }
});

test('requires 1010 · 2^L blocks for a universal sequence (§2.9.7)', () => {
  for (const [L, { minimumBits }] of UNIVERSAL_ROWS) {
    assert.equal(minimumBits, 1010 * 2 ** L * L, `L = ${L}`);
  }
});

test('gives the rank probabilities of an enumeration of all 3 × 3 matrices (§3.5)', () => {
  // 168 matrices are invertible, 294 have rank 2, and 50 a lower rank.
  assertClose(rankProbabilities(3), [168 / 512, 294 / 512, 50 / 512], 1e-16);
});

test('gives the rank probabilities 0.2888, 0.5776, 0.1336 for 32 × 32 (§3.5)', () => {
  const expected = [0.2887880951538411, 0.5775761901732048, 0.133635714672954];
  assertClose(rankProbabilities(32), expected, 1e-15);
});

test('gives the visit probabilities of the table of §3.14', () => {
  assert.deepEqual(visitProbabilities(1), [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125]);
  const four = [0.875, 0.015625, 0.013671875, 0.011962890625, 0.010467529296875, 0.073272705078125];
  assertClose(visitProbabilities(-4), four, 1e-16);
});

test('has class probabilities that add up to 1', () => {
  const tables = [
    ...LONGEST_RUN_ROWS.map(({ pi }) => pi.exact),
    OVERLAPPING_TEMPLATE_PI.exact,
    LINEAR_COMPLEXITY_PI.exact,
    rankProbabilities(32),
    visitProbabilities(1),
    visitProbabilities(2),
    visitProbabilities(3),
    visitProbabilities(4),
  ];
  for (const table of tables) assert.ok(Math.abs(sum(table) - 1) < 1e-15, table.join(', '));
});

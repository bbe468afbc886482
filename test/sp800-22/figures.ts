/** Comparison of a test's statistics with reference figures. */
import assert from 'node:assert/strict';
import type { Statistics } from '#sp800-22';

/**
 * Asserts that every figure of `expected` is present, within a relative `bound` (absolute below 1). For
 * counts, which stay below 1/bound, this means equality.
 */
export function assertStatistics(
  actual: Statistics,
  expected: Statistics,
  name: string,
  bound: number,
): void {
  for (const [key, value] of Object.entries(expected)) {
    const seen = [actual[key]].flat();
    const wanted = [value].flat();
    assert.equal(seen.length, wanted.length, `${name}.${key}: the number of figures`);
    wanted.forEach((figure, i) => {
      assertFigure(seen[i], figure, `${name}.${key}[${i}]`, bound);
    });
  }
}

function assertFigure(actual: unknown, expected: unknown, name: string, bound: number): void {
  if (typeof actual !== 'number' || typeof expected !== 'number') {
    assert.equal(actual, expected, name);
    return;
  }
  const difference = Math.abs(actual - expected);
  const allowed = bound * Math.max(1, Math.abs(expected));
  assert.ok(difference <= allowed, `${name}: got ${actual}, expected ${expected}`);
}

/** Asserts that each p-value is within an absolute `bound` of its reference, which a new test does not have yet. */
export function assertPValues(
  actual: readonly number[],
  expected: readonly number[] | undefined,
  name: string,
  bound: number,
): void {
  assert.ok(expected, `${name}: got ${actual.length} p-values, and test/vectors/ has no reference`);
  const { length } = expected;
  assert.equal(actual.length, length, `${name}: got ${actual.length} p-values, expected ${length}`);
  expected.forEach((p, i) => {
    const difference = Math.abs(actual[i] - p);
    assert.ok(difference <= bound, `${name}[${i}]: got ${actual[i]}, expected ${p}`);
  });
}

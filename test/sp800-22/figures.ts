/** Comparison of a test's statistics with reference figures. */
import assert from 'node:assert/strict';
import type { Statistics } from '#sp800-22';

/**
 * Every figure of `expected` must be there, within `bound` relative (absolute below 1). For counts,
 * which stay below 1/bound, that means equal.
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
    assert.equal(seen.length, wanted.length, `${name}.${key}`);
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

/** Each p-value must lie within `bound` absolute of its reference. */
export function assertPValues(
  actual: readonly number[],
  expected: readonly number[],
  name: string,
  bound: number,
): void {
  assert.equal(actual.length, expected.length, name);
  expected.forEach((p, i) => {
    const difference = Math.abs(actual[i] - p);
    assert.ok(difference <= bound, `${name}[${i}]: got ${actual[i]}, expected ${p}`);
  });
}

/** The pass rule of a single test: its p-values are combined into one, which must be at least `ALPHA`. */
import { assertNumbers, isProbability } from './arguments.ts';
import { expm1, log1p } from './elementary.ts';

/** Significance level of a single test, SP 800-22 §1.1.5. */
export const ALPHA = 0.01;

/**
 * Returns the test-level p-value of m p-values: 1 − (1 − p_min)^m, Šidák's correction of the smallest.
 * It is exact for independent p-values. In this form a p_min of 1e-300 keeps its digits.
 */
export function testLevelP(pValues: readonly number[]): number {
  assertNumbers('pValues', pValues, '0 to 1', isProbability);
  if (pValues.length === 0) throw new RangeError('"pValues" expected at least 1 element, got 0');
  // 0 − x instead of −x: a p_min of 0 gives 0, not −0.
  return 0 - expm1(pValues.length * log1p(-Math.min(...pValues)));
}

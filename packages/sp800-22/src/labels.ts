/** Labels of the p-values, in the order of the p-values of each test. Everything that counts p-values uses this function. */
import type { TestName } from './catalogue.ts';
import type { TestParameters } from './parameters.ts';
import { resolveParameters } from './resolve-parameters.ts';
import { SUITE } from './suite.ts';
import type { SupplementName } from './supplements/supplements.ts';

/** A test of the standard, or a supplement. */
export type RowName = TestName | SupplementName;

/**
 * Returns the block length, direction, template, state or difference of each p-value of a test on sequences of `n`
 * bits; one empty string if the test has one p-value. Throws `RangeError` on parameters outside their bounds.
 */
export function rowLabels(
  name: RowName,
  n: number,
  parameters: TestParameters = {},
): readonly string[] {
  const resolved = resolveParameters(n, parameters);
  return isTest(name) ? (SUITE[name].labels?.(resolved) ?? ['']) : [''];
}

function isTest(name: RowName): name is TestName {
  return name in SUITE;
}

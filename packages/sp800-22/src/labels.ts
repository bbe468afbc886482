/** Labels of the p-values, in the order of the p-values of each test. Everything that counts p-values uses this function. */
import { assertName } from './arguments.ts';
import { TEST_NAMES, type TestName } from './catalogue.ts';
import type { TestParameters } from './parameters.ts';
import { resolveParameters } from './resolve-parameters.ts';
import { SUITE } from './suite.ts';
import { SUPPLEMENT_NAMES, type SupplementName } from './supplements/supplements.ts';

/** A test of the standard, or a supplement. */
export type RowName = TestName | SupplementName;

/** The names of all rows. */
export const ROWS: readonly RowName[] = [...TEST_NAMES, ...SUPPLEMENT_NAMES];

/**
 * Returns the block length, direction, template, state or difference of each p-value of a test on sequences of `n`
 * bits; one empty string if the test has one p-value. Throws `RangeError` on parameters outside their bounds.
 */
export function rowLabels(
  name: RowName,
  n: number,
  parameters: TestParameters = {},
): readonly string[] {
  assertName('name', name, ROWS);
  const resolved = resolveParameters(n, parameters);
  return isTest(name) ? (SUITE[name].labels?.(resolved) ?? ['']) : [''];
}

function isTest(name: RowName): name is TestName {
  return name in SUITE;
}

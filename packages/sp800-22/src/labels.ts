/** Labels of the p-values, in the order of the p-values of each test. Everything that counts p-values uses this function. */
import { resolveParameters, type TestParameters } from './parameters.ts';
import type { TestName } from './suite.ts';
import type { SupplementName } from './supplements/supplements.ts';
import { templatesOf } from './tests/non-overlapping-template.ts';
import { EXCURSION_STATES } from './tests/random-excursions.ts';
import { VARIANT_STATES } from './tests/random-excursions-variant.ts';

const state = (x: number): string => `x=${x}`;

/** A test of the standard, or a supplement. */
export type RowName = TestName | SupplementName;

/** Tests whose p-values do not depend on parameters. */
const LABELS: Partial<Record<RowName, readonly string[]>> = {
  cumulative_sums: ['forward', 'reverse'],
  random_excursions: EXCURSION_STATES.map(state),
  random_excursions_variant: VARIANT_STATES.map(state),
  // §2.11.4 (5): P-value1 of ∇ψ², P-value2 of ∇²ψ².
  serial: ['del1', 'del2'],
};

/**
 * Returns the block length, direction, template, state or difference of each p-value of a test on sequences of `n`
 * bits; one empty string if the test has one p-value. Throws `RangeError` on parameters outside their bounds.
 */
export function rowLabels(
  name: RowName,
  n: number,
  parameters: TestParameters = {},
): readonly string[] {
  const { blockFrequencyM, templateM } = resolveParameters(n, parameters);
  if (name === 'block_frequency' && blockFrequencyM.length > 1) {
    return blockFrequencyM.map((M) => `M = ${M}`);
  }
  if (name === 'non_overlapping_template') return templatesOf(templateM);
  return LABELS[name] ?? [''];
}

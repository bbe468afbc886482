/** Labels of the 188 p-values, in the order of the p-values of each test. */
import { TEST_NAMES, type TestName } from './suite.ts';
import { aperiodicTemplates, NON_OVERLAPPING_M } from './tests/non-overlapping-template.ts';
import { EXCURSION_STATES } from './tests/random-excursions.ts';
import { VARIANT_STATES } from './tests/random-excursions-variant.ts';

const state = (x: number): string => `x=${x}`;

/** Tests with more than one p-value. */
const LABELS: Partial<Record<TestName, readonly string[]>> = {
  cumulative_sums: ['forward', 'reverse'],
  non_overlapping_template: aperiodicTemplates(NON_OVERLAPPING_M),
  random_excursions: EXCURSION_STATES.map(state),
  random_excursions_variant: VARIANT_STATES.map(state),
  // §2.11.4 (5): P-value1 of ∇ψ², P-value2 of ∇²ψ².
  serial: ['del1', 'del2'],
};

/** The direction, template, state or difference of each p-value; empty if the test has one p-value. */
export const P_VALUE_LABELS: Readonly<Record<TestName, readonly string[]>> = Object.fromEntries(
  TEST_NAMES.map((name) => [name, LABELS[name] ?? ['']]),
) as Record<TestName, readonly string[]>;

/**
 * A suite report as plain JSON, complete enough to file: the parameters of each test, a label for each
 * p-value, and the counts. The command line and the service use this one shape.
 */
import type { TestName } from './catalogue.ts';
import type { Constants } from './constants.ts';
import { rowLabels } from './labels.ts';
import { ALPHA, testLevelP } from './pass-rule.ts';
import type { Statistics } from './result.ts';
import { assertReport, SUITE, type SuiteReport, type TestOutcome } from './suite.ts';
import {
  NOT_OF_STANDARD,
  type SupplementName,
  type SupplementOutcome,
} from './supplements/supplements.ts';

/**
 * One test in the report. A test that does not apply has a reason, empty lists and records, and null for
 * `corrected_p` and `passed`.
 */
export interface AssessedTest {
  readonly name: TestName;
  readonly applicable: boolean;
  readonly reason?: string;
  /** Parameters in the standard's symbols; `pi` are the class probabilities. */
  readonly parameters: Statistics;
  /** One label per p-value; empty if the test has one p-value. */
  readonly labels: readonly string[];
  readonly p_values: readonly number[];
  /** The smallest p-value, corrected for the number of p-values: at least `alpha` if the test passed. */
  readonly corrected_p: number | null;
  readonly statistics: Statistics;
  readonly passed: boolean | null;
}

export interface AssessReport {
  readonly bits: number;
  readonly constants: Constants;
  readonly alpha: number;
  readonly tests: readonly AssessedTest[];
  readonly tests_passed: number;
  /** The tests that applied. */
  readonly total_tests: number;
  /** Only if supplements were run. */
  readonly supplements?: readonly AssessedSupplement[];
}

/** A supplement in the JSON of a report. */
interface AssessedSupplement {
  readonly name: SupplementName;
  readonly standard: typeof NOT_OF_STANDARD;
  readonly applicable: boolean;
  readonly reason?: string;
  readonly alpha: number;
  readonly p_value: number | null;
  readonly statistics: Statistics;
  readonly passed: boolean | null;
}

/** Returns the report as JSON. */
export function toAssessReport(report: SuiteReport): AssessReport {
  assertReport('report', report);
  const { bits, constants, parameters, tests, testsPassed, totalTests, supplements } = report;
  return {
    bits,
    constants,
    alpha: ALPHA,
    tests: tests.map((test) =>
      toAssessedTest(test, constants, rowLabels(test.name, bits, parameters)),
    ),
    tests_passed: testsPassed,
    total_tests: totalTests,
    ...(supplements && { supplements: supplements.map(toAssessedSupplement) }),
  };
}

function toAssessedTest(
  outcome: TestOutcome,
  constants: Constants,
  labels: readonly string[],
): AssessedTest {
  const { name, applicable } = outcome;
  if (!applicable) {
    const nothing = { parameters: {}, labels: [], p_values: [], corrected_p: null, statistics: {} };
    return { name, applicable, reason: outcome.reason, ...nothing, passed: null };
  }
  const { pValues, passed } = outcome;
  const parameters = SUITE[name].parameters?.(outcome.statistics, constants) ?? {};
  const counted = Object.entries(outcome.statistics).filter(([symbol]) => !(symbol in parameters));
  return {
    name,
    applicable,
    parameters,
    labels,
    p_values: pValues,
    corrected_p: testLevelP(pValues),
    statistics: Object.fromEntries(counted),
    passed,
  };
}

/** Returns a supplement as JSON. */
function toAssessedSupplement(outcome: SupplementOutcome): AssessedSupplement {
  const head = { name: outcome.name, standard: NOT_OF_STANDARD } as const;
  if (!outcome.applicable) {
    const { reason } = outcome;
    const nothing = { alpha: ALPHA, p_value: null, statistics: {}, passed: null };
    return { ...head, applicable: false, reason, ...nothing };
  }
  const { pValues, statistics, passed } = outcome;
  return { ...head, applicable: true, alpha: ALPHA, p_value: pValues[0], statistics, passed };
}

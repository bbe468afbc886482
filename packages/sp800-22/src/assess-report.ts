/**
 * A suite report as plain JSON, complete enough to file: the parameters of each test, a label for each
 * p-value, and the counts. The command line and the service use this one shape.
 */
import {
  type Constants,
  DFT_T2_OVER_N,
  LINEAR_COMPLEXITY_PI,
  LONGEST_RUN_ROWS,
  UNIVERSAL_ROWS,
} from './constants.ts';
import { rowLabels } from './labels.ts';
import { ALPHA, testLevelP } from './pass-rule.ts';
import type { Statistics } from './result.ts';
import type { SuiteReport, TestName, TestOutcome } from './suite.ts';
import {
  NOT_OF_STANDARD,
  type SupplementName,
  type SupplementOutcome,
} from './supplements/supplements.ts';
import { overlappingProbabilities } from './tests/overlapping-template.ts';
import { RANK_M, RANK_PROBABILITIES } from './tests/rank.ts';

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
  const parameters = PARAMETERS[name]?.(outcome.statistics, constants) ?? {};
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

type ReadParameters = (statistics: Statistics, constants: Constants) => Statistics;

/** Parameters of a test: those among its statistics, and the constants of the comparison. */
const PARAMETERS: Partial<Record<TestName, ReadParameters>> = {
  block_frequency: ({ M, N }) => ({ M, N }),
  longest_run: ({ M, N }, constants) => {
    const row = LONGEST_RUN_ROWS.find((one) => one.M === M);
    return { M, N, ...(row && { pi: row.pi[constants] }) };
  },
  rank: ({ N }) => ({ M: RANK_M, Q: RANK_M, N, pi: RANK_PROBABILITIES }),
  dft: (_, constants) => ({ T2_over_n: DFT_T2_OVER_N[constants] }),
  non_overlapping_template: ({ m, M, N }) => ({ m, M, N }),
  overlapping_template: ({ m, M, N }, constants) => {
    return { m, M, N, pi: overlappingProbabilities(Number(m), constants) };
  },
  universal: ({ L, Q, K }) => {
    const row = UNIVERSAL_ROWS.get(Number(L));
    const moments = row && { expected_value: row.expectedValue, variance: row.variance };
    return { L, Q, K, ...moments };
  },
  approximate_entropy: ({ m }) => ({ m }),
  serial: ({ m }) => ({ m }),
  linear_complexity: ({ M, N }, constants) => ({ M, N, pi: LINEAR_COMPLEXITY_PI[constants] }),
};

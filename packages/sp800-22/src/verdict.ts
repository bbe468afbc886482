/**
 * Verdicts on a report: the gate of a sample, labels, score and grade.
 *
 * These are this service's own rules. SP 800-22 judges a generator by many sequences (§4.2), not one
 * sequence by its p-values, and NIST certifies nothing by it.
 */
import { assertInteger, assertName, assertNumber, assertObject } from './arguments.ts';
import { TEST_NAMES, type TestName } from './catalogue.ts';
import { testLevelP } from './pass-rule.ts';
import {
  type ApplicableOutcome,
  assertReport,
  type SuiteReport,
  type TestOutcome,
} from './suite.ts';

/**
 * A gate value below this is a FAIL. About 2.5 sound samples in a million fall below it with 17 tests, and
 * 2.2 with 13, because the far tails of the asymptotic laws are too light (`packages/lab/studies/sts-gate-tails.ts`).
 */
export const GATE_ALPHA = 1e-6;

/**
 * Tests that are reported but do not enter the gate: near J = 500 cycles their statistics have much
 * heavier tails than the χ² and normal laws of the comparison.
 */
const OUTSIDE_GATE: ReadonlySet<TestName> = new Set([
  'random_excursions',
  'random_excursions_variant',
]);

export interface Gate {
  /** min(1, k · the smallest test-level p-value). */
  readonly p: number;
  readonly verdict: 'PASS' | 'FAIL';
  /** Number of test-level p-values that entered: k. */
  readonly tests: number;
  /** The test with the smallest of them, and the index of its report among the arguments of `gate`. */
  readonly weakest: { readonly report: number; readonly test: TestName };
}

export type ComplianceLevel = 'CERTIFICATION_READY' | 'REVIEW' | 'NON_COMPLIANT';
export type Grade = 'A' | 'B' | 'C' | 'D' | 'F';

/**
 * Judges all reports together: p = min(1, k · min p_i) over their k test-level p-values. (Bonferroni needs
 * no independence: the reports may be on the same sample, or one sample may derive from the other.)
 * `runs` without its prerequisite does not enter, because its p = 0 is only the text's convention, which
 * 6 in 100,000 sound samples meet. Throws `RangeError` if no test enters: a PASS would rest on nothing.
 */
export function gate(...reports: readonly SuiteReport[]): Gate {
  const entered = reports.flatMap((one, report) =>
    gatePValues(one).map(({ p, test }) => ({ p, test: { report, test } })),
  );
  if (entered.length === 0) {
    throw new RangeError('"reports" expected at least 1 test that enters the gate, got 0');
  }
  const weakest = entered.reduce((least, one) => (one.p < least.p ? one : least));
  const p = Math.min(1, entered.length * weakest.p);
  const verdict = p >= GATE_ALPHA ? 'PASS' : 'FAIL';
  return { p, verdict, tests: entered.length, weakest: weakest.test };
}

/** A test-level p-value. */
export interface GatePValue {
  readonly p: number;
  readonly test: TestName;
}

/** Returns the test-level p-values that enter the gate. */
export function gatePValues(report: SuiteReport): GatePValue[] {
  assertReport('report', report);
  return report.tests
    .filter(entersGate)
    .map(({ name, pValues }) => ({ p: testLevelP(pValues), test: name }));
}

function entersGate(test: TestOutcome): test is ApplicableOutcome {
  return test.applicable && test.prerequisiteMet && isOfGate(test.name);
}

/** Reports whether p-values of this test can enter the gate. */
export function isOfGate(name: TestName): boolean {
  assertName('name', name, TEST_NAMES);
  return !OUTSIDE_GATE.has(name);
}

function assertCounts(report: SuiteReport): void {
  assertObject('report', report, 'testsPassed', 'totalTests');
  assertInteger('report.totalTests', report.totalTests, 0, TEST_NAMES.length);
  assertInteger('report.testsPassed', report.testsPassed, 0, report.totalTests);
}

/** Returns this service's label. About one sound sample in eight is `REVIEW` by chance (docs/evidence). */
export function complianceLevel(
  report: SuiteReport,
  judged: Pick<Gate, 'verdict'>,
): ComplianceLevel {
  assertCounts(report);
  assertObject('gate', judged, 'verdict');
  assertName('gate.verdict', judged.verdict, ['PASS', 'FAIL']);
  if (judged.verdict === 'FAIL') return 'NON_COMPLIANT';
  return report.testsPassed === report.totalTests ? 'CERTIFICATION_READY' : 'REVIEW';
}

/** Returns the percentage of the applicable tests that passed, rounded; 0 if none applied. */
export function score(report: SuiteReport): number {
  assertCounts(report);
  if (report.totalTests === 0) return 0;
  return Math.round((100 * report.testsPassed) / report.totalTests);
}

const GRADES: readonly (readonly [minimumScore: number, grade: Grade])[] = [
  [92, 'A'],
  [80, 'B'],
  [67, 'C'],
  [50, 'D'],
];

export function grade(scorePercent: number): Grade {
  assertNumber('scorePercent', scorePercent, '0 to 100', (one) => one >= 0 && one <= 100);
  return GRADES.find(([minimumScore]) => scorePercent >= minimumScore)?.[1] ?? 'F';
}

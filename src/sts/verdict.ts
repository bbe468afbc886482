/**
 * From p-values to verdicts: the pass rule of a test, the gate of a sample, labels, score and grade.
 *
 * These are the rules of this service. SP 800-22 judges a generator by many sequences (§4.2), not
 * one sequence by its p-values, and NIST certifies nothing by it.
 */
import type { SuiteReport, TestName } from './suite.ts';

/** Significance level of a single test, SP 800-22 §1.1.5. */
export const ALPHA = 0.01;

/**
 * A gate value below this is a FAIL. Sound samples meet it about twice in a million times: the far
 * tails of the asymptotic laws are too light (`scripts/sts-gate-tails.ts`).
 */
export const GATE_ALPHA = 1e-6;

/**
 * Reported, but kept out of the gate: near J = 500 cycles their statistics have much heavier tails
 * than the χ² and normal laws they are compared with.
 */
const OUTSIDE_GATE: ReadonlySet<TestName> = new Set([
  'random_excursions',
  'random_excursions_variant',
]);

export interface Gate {
  readonly p: number;
  readonly verdict: 'PASS' | 'FAIL';
}

export type ComplianceLevel = 'CERTIFICATION_READY' | 'REVIEW' | 'NON_COMPLIANT';
export type Grade = 'A' | 'B' | 'C' | 'D' | 'F';

/**
 * The test-level p-value of m p-values: 1 − (1 − p_min)^m, Šidák's correction of the smallest.
 * Exact for independent p-values. In this form a p_min of 1e-300 keeps its digits.
 */
export function testLevelP(pValues: readonly number[]): number {
  if (pValues.length === 0) throw new RangeError('"pValues" expected at least 1 element, got 0');
  const outside = pValues.find((p) => !(p >= 0 && p <= 1));
  if (outside !== undefined) throw new RangeError(`"pValues" expected 0 to 1, got ${outside}`);
  // 0 − x instead of −x: a p_min of 0 gives 0, not −0.
  return 0 - Math.expm1(pValues.length * Math.log1p(-Math.min(...pValues)));
}

/**
 * p = min(1, k · min p_i) over the k test-level p-values (Bonferroni, which needs no independence).
 * Runs without its prerequisite does not enter: its p = 0 is the text's convention, met by 6 in
 * 100,000 sound samples. Throws `RangeError` when no test enters: nothing would vouch for a PASS.
 */
export function gate(report: SuiteReport): Gate {
  const testPs: number[] = [];
  for (const test of report.tests) {
    if (!test.applicable || !test.prerequisiteMet || OUTSIDE_GATE.has(test.name)) continue;
    testPs.push(testLevelP(test.pValues));
  }
  if (testPs.length === 0) {
    throw new RangeError('"report" expected at least 1 test that enters the gate, got 0');
  }
  const p = Math.min(1, testPs.length * Math.min(...testPs));
  return { p, verdict: p >= GATE_ALPHA ? 'PASS' : 'FAIL' };
}

/** Labels of this service: a sound sample is `REVIEW` by chance about once in eight (docs/evidence). */
export function complianceLevel(report: SuiteReport, { verdict }: Gate): ComplianceLevel {
  if (verdict === 'FAIL') return 'NON_COMPLIANT';
  return report.testsPassed === report.totalTests ? 'CERTIFICATION_READY' : 'REVIEW';
}

/** Percentage of the applicable tests that passed, rounded; 0 when none applied. */
export function score(report: SuiteReport): number {
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
  return GRADES.find(([minimumScore]) => scorePercent >= minimumScore)?.[1] ?? 'F';
}

/** Judges a stream by its sample: the statistical suite on what keys are cut from, screens on both. */
import { countOnes, mostCommonValueMinEntropy } from '../entropy/index.ts';
import {
  ALPHA,
  complianceLevel,
  gate,
  grade,
  judgeFrequency,
  runPackedSuite,
  type SuiteReport,
  score,
  testLevelP,
} from '../sts/index.ts';
import type { Evidence } from './order.ts';

export interface Judgement {
  readonly passed: boolean;
  /** The smaller min-entropy a bit of carrier and modulated stream. */
  readonly screen: number;
  readonly evidence: Evidence;
}

/**
 * Runs the suite on the modulated sample. Modulation can hide a biased carrier from every test, so
 * frequency is tested on both, as two p-values of one test, and the smaller min-entropy screen counts.
 */
export function judgeStream(carrier: Uint8Array, modulated: Uint8Array): Judgement {
  const report = withCarrierFrequency(runPackedSuite(modulated), carrier);
  const verdict = gate(report);
  const points = score(report);
  return {
    passed: verdict.verdict === 'PASS',
    screen: Math.min(screenOf(carrier), screenOf(modulated)),
    evidence: {
      gateP: verdict.p,
      testsPassed: report.testsPassed,
      totalTests: report.totalTests,
      complianceLevel: complianceLevel(report, verdict),
      score: points,
      grade: grade(points),
    },
  };
}

/** The report with the carrier's frequency as a second p-value beside the stream's own. */
function withCarrierFrequency(report: SuiteReport, carrier: Uint8Array): SuiteReport {
  const onCarrier = judgeFrequency(carrier.length * 8, countOnes(carrier));
  const tests = report.tests.map((test) => {
    if (test.name !== 'frequency' || !test.applicable) return test;
    const pValues = [...test.pValues, ...onCarrier.pValues];
    return { ...test, pValues, passed: testLevelP(pValues) >= ALPHA };
  });
  const testsPassed = tests.filter((test) => test.applicable && test.passed).length;
  return { ...report, tests, testsPassed };
}

function screenOf(bytes: Uint8Array): number {
  return mostCommonValueMinEntropy(countOnes(bytes), bytes.length * 8);
}

/** Judges a stream by its sample: the statistical suite on what keys are cut from, screens on both. */
import { wipe } from '../bytes.ts';
import { countOnes, mostCommonValueMinEntropy } from '../entropy/index.ts';
import {
  ALPHA,
  complianceLevel,
  frequency,
  gate,
  grade,
  runSuite,
  type SuiteReport,
  score,
  unpackBits,
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
 * the frequency test and the min-entropy screen are taken on both and the worse one counts.
 */
export function judgeStream(carrier: Uint8Array, modulated: Uint8Array): Judgement {
  const bits = unpackBits(modulated);
  const report = withWorseFrequency(runSuite(bits), carrier);
  wipe(bits);
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

function withWorseFrequency(report: SuiteReport, carrier: Uint8Array): SuiteReport {
  const bits = unpackBits(carrier);
  const onCarrier = frequency(bits);
  wipe(bits);
  const p = Math.min(...onCarrier.pValues);
  const tests = report.tests.map((test) =>
    test.name === 'frequency' && test.applicable && p < Math.min(...test.pValues)
      ? { ...test, ...onCarrier, passed: p >= ALPHA }
      : test,
  );
  const testsPassed = tests.filter((test) => test.applicable && test.passed).length;
  return { ...report, tests, testsPassed };
}

function screenOf(bytes: Uint8Array): number {
  return mostCommonValueMinEntropy(countOnes(bytes), bytes.length * 8);
}

/** Judges a stream by its sample: the statistical suite on what keys are cut from, screens on both. */
import { countOnes, mostCommonValueMinEntropy } from '../entropy/index.ts';
import {
  ALPHA,
  complianceLevel,
  type Gate,
  gate,
  grade,
  judgeFrequency,
  P_VALUE_LABELS,
  runPackedSuite,
  type SuiteReport,
  score,
  type TestName,
  type TestResult,
  testLevelP,
} from '../sts/index.ts';
import type { Evidence } from './order.ts';
import { packPValues } from './p-values.ts';

/** What each p-value of a stream's report is about: the suite's own, and the carrier's frequency. */
export const STREAM_LABELS: Readonly<Record<TestName, readonly string[]>> = {
  ...P_VALUE_LABELS,
  frequency: ['stream', 'carrier'],
};

export interface Judgement {
  readonly passed: boolean;
  /** The smaller min-entropy a bit of carrier and modulated stream. */
  readonly screen: number;
  readonly evidence: Evidence;
  readonly suite: SuiteReport;
  readonly gate: Gate;
}

/**
 * Runs the suite on the modulated sample. Modulation can hide a biased carrier from every test, so
 * frequency is tested on both, as two p-values of one test, and the smaller min-entropy screen counts.
 */
export function judgeStream(carrier: Uint8Array, modulated: Uint8Array): Judgement {
  const carrierOnes = countOnes(carrier);
  const bits = carrier.length * 8;
  const onCarrier = judgeFrequency(bits, carrierOnes);
  const onStream = runPackedSuite(modulated);
  const report = withCarrierFrequency(onStream, onCarrier);
  const verdict = gate(report);
  const points = score(report);
  return {
    passed: verdict.verdict === 'PASS',
    screen: Math.min(
      mostCommonValueMinEntropy(carrierOnes, bits),
      mostCommonValueMinEntropy(onesOf(report), bits),
    ),
    evidence: {
      gateP: verdict.p,
      testsPassed: report.testsPassed,
      totalTests: report.totalTests,
      complianceLevel: complianceLevel(report, verdict),
      score: points,
      grade: grade(points),
      pValues: packPValues(onStream),
    },
    suite: report,
    gate: verdict,
  };
}

/** The ones of the sequence, from its frequency test: S_n = 2·ones − n. */
function onesOf({ bits, tests }: SuiteReport): number {
  const frequency = tests.find(({ name }) => name === 'frequency');
  if (!frequency?.applicable) throw new Error('a sample without its frequency test');
  return (Number(frequency.statistics.S_n) + bits) / 2;
}

/** The report with the carrier's frequency as a second p-value beside the stream's own. */
function withCarrierFrequency(report: SuiteReport, onCarrier: TestResult): SuiteReport {
  const tests = report.tests.map((test) => {
    if (test.name !== 'frequency' || !test.applicable) return test;
    const pValues = [...test.pValues, ...onCarrier.pValues];
    const { S_n, s_obs } = onCarrier.statistics;
    const statistics = { ...test.statistics, S_n_carrier: S_n, s_obs_carrier: s_obs };
    return { ...test, pValues, statistics, passed: testLevelP(pValues) >= ALPHA };
  });
  const testsPassed = tests.filter((test) => test.applicable && test.passed).length;
  return { ...report, tests, testsPassed };
}

/**
 * Statistical evidence on a stream: the suite judges its sample before modulation (the carrier), and four
 * quick tests judge it after modulation.
 *
 * Modulation is a keyed bijection. It cannot improve the carrier, but `phase` and `amplitude` hide a
 * broken carrier from the tests. Therefore the suite judges the carrier, and the four tests only judge the modulation.
 */
import { complianceLevel, gate, grade, type SuiteReport, score } from '#sp800-22';
import { mostCommonValueMinEntropy } from '#sp800-90b/health';
import { runEvidenceSuite, runWholeEvidence, type SampleVerdict } from './evidence-suite.ts';
import type { Evidence } from './order.ts';
import { packPValues, STREAM_TESTS } from './p-values.ts';

/**
 * Version of the meaning of a key's stored p-values. 1: the suite on the modulated sample. 2: the suite on the carrier and
 * four quick tests on the modulated sample, of one seeding. 3: the same tests, on nine segments after a reseed each.
 */
export const EVIDENCE_DEFINITION = 3;

/** Results of the tests on one stream: the verdict, the figures that are stored with its key, and the full reports. */
export interface StreamEvidence extends SampleVerdict {
  readonly passed: boolean;
  /** Most-common-value bound per bit, a screen for defects: the smaller value of carrier and modulated sample. */
  readonly screen: number;
  readonly summary: Evidence;
  readonly carrier: SuiteReport;
  /** Null without modulation. */
  readonly modulated: SuiteReport | null;
}

const NO_TESTS = { tests: [] };

/**
 * Runs the suite on the carrier and four quick tests on the modulated sample, which is null without
 * modulation. The p-values of both enter the gate. Only the carrier's tests are counted, scored and
 * graded.
 */
export function gatherEvidence(carrier: Uint8Array, modulated: Uint8Array | null): StreamEvidence {
  const { report: onCarrier, counts } = runWholeEvidence(carrier);
  const onModulated = modulated && runEvidenceSuite(modulated, STREAM_TESTS.modulated);
  const reports = onModulated ? [onCarrier, onModulated] : [onCarrier];
  const verdict = gate(...reports);
  const points = score(onCarrier);
  return {
    passed: verdict.verdict === 'PASS',
    screen: Math.min(...reports.map(screenOf)),
    summary: {
      definition: EVIDENCE_DEFINITION,
      gateP: verdict.p,
      testsPassed: onCarrier.testsPassed,
      totalTests: onCarrier.totalTests,
      complianceLevel: complianceLevel(onCarrier, verdict),
      score: points,
      grade: grade(points),
      pValues: packPValues({ carrier: onCarrier, modulated: onModulated ?? NO_TESTS }),
    },
    carrier: onCarrier,
    modulated: onModulated,
    gate: verdict,
    counts,
  };
}

/** Returns the min-entropy per bit from the frequency test's count: S_n = 2 · ones − n. */
function screenOf({ bits, tests }: SuiteReport): number {
  const frequency = tests.find(({ name }) => name === 'frequency');
  if (!frequency?.applicable) throw new Error('a sample without its frequency test');
  return mostCommonValueMinEntropy((Number(frequency.statistics.S_n) + bits) / 2, bits);
}

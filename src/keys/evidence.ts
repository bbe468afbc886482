/**
 * The evidence on a stream, by its sample: the statistical suite on the generator's output before modulation, a
 * quick look at the output after it.
 *
 * Modulation is a keyed bijection. It cannot make the carrier better, but it hides a broken one from
 * every test. So the suite judges the carrier, and four tests judge the modulation alone.
 */
import {
  complianceLevel,
  type Gate,
  gate,
  grade,
  runPackedSuite,
  type SuiteReport,
  score,
} from '#sp800-22';
import { mostCommonValueMinEntropy } from '#sp800-90b';
import type { Evidence } from './order.ts';
import { packPValues, STREAM_TESTS } from './p-values.ts';

/**
 * What the p-values kept with a key are about. 1, in releases up to 0.1: the suite on the modulated
 * sample. 2: the suite on the carrier, four quick tests on the modulated sample.
 */
export const EVIDENCE_DEFINITION = 2;

/** What the tests say of a stream: the verdict, the figures that stay with its key, and the full reports. */
export interface StreamEvidence {
  readonly passed: boolean;
  /** The smaller min-entropy a bit of the two streams that were tested. */
  readonly screen: number;
  readonly summary: Evidence;
  readonly carrier: SuiteReport;
  /** Null when there is no modulation, and one stream only. */
  readonly modulated: SuiteReport | null;
  readonly gate: Gate;
}

const NO_TESTS = { tests: [] };

/**
 * Runs the suite on the carrier and four quick tests on the modulated sample, which is null without
 * modulation. The p-values of both enter the gate. The tests that are counted, scored and graded are
 * the carrier's.
 */
export function gatherEvidence(carrier: Uint8Array, modulated: Uint8Array | null): StreamEvidence {
  const onCarrier = runPackedSuite(carrier);
  const onModulated = modulated && runPackedSuite(modulated, { only: STREAM_TESTS.modulated });
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
  };
}

/** Min-entropy a bit, by the ones that the frequency test counted: S_n = 2 · ones − n. */
function screenOf({ bits, tests }: SuiteReport): number {
  const frequency = tests.find(({ name }) => name === 'frequency');
  if (!frequency?.applicable) throw new Error('a sample without its frequency test');
  return mostCommonValueMinEntropy((Number(frequency.statistics.S_n) + bits) / 2, bits);
}

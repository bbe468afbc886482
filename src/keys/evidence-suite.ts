/**
 * The suite as the evidence on keys defines it: these tests, with the default parameters of the NIST program, at any default
 * of the package. Stored p-values, receipts and the gate depend on it.
 */
import {
  type Gate,
  type LagCounts,
  NIST_PARAMETERS,
  PValueTally,
  rowLabels,
  runPackedSuite,
  type SuiteReport,
  type TestName,
} from '#sp800-22';
import { SAMPLE_BITS } from './sample.ts';

/**
 * The tests of the evidence, in the order of their stored p-values. Another test of the suite is none of them: with it, the
 * stored p-values would have another `EVIDENCE_DEFINITION`.
 */
export const EVIDENCE_TESTS = [
  'frequency',
  'block_frequency',
  'cumulative_sums',
  'runs',
  'longest_run',
  'rank',
  'dft',
  'non_overlapping_template',
  'overlapping_template',
  'universal',
  'approximate_entropy',
  'random_excursions',
  'random_excursions_variant',
  'serial',
  'linear_complexity',
] as const satisfies readonly TestName[];

export type EvidenceTest = (typeof EVIDENCE_TESTS)[number];

/** What a sample says of its generator: the verdict on it alone, and what it adds to the sums over all samples. */
export interface SampleVerdict {
  readonly gate: Gate;
  readonly counts: LagCounts;
}

/** Runs the tests of the evidence on a sample, or some of them. Throws as `runPackedSuite`. */
export function runEvidenceSuite(
  sample: Uint8Array,
  only: readonly EvidenceTest[] = EVIDENCE_TESTS,
): SuiteReport {
  return runPackedSuite(sample, { parameters: NIST_PARAMETERS, only });
}

/** Runs all tests of the evidence on a sample, and counts what adds up over samples. Throws as `runPackedSuite`. */
export function runWholeEvidence(sample: Uint8Array): {
  readonly report: SuiteReport;
  readonly counts: LagCounts;
} {
  const options = { parameters: NIST_PARAMETERS, only: EVIDENCE_TESTS, lags: true };
  const { lags, ...report } = runPackedSuite(sample, options);
  if (!lags) throw new Error('the suite counted no pairs');
  return { report, counts: lags };
}

/** Returns an empty tally of the p-values of these tests. */
export function evidenceTally(tests: readonly EvidenceTest[] = EVIDENCE_TESTS): PValueTally {
  return new PValueTally(tests, SAMPLE_BITS, NIST_PARAMETERS);
}

/** Returns the labels of the p-values of a test; one empty string if it has one p-value. */
export function evidenceLabels(test: TestName): readonly string[] {
  return rowLabels(test, SAMPLE_BITS, NIST_PARAMETERS);
}

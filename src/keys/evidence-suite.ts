/**
 * The suite as the evidence on keys defines it: with the default parameters of the NIST program, at any default of the
 * package. Stored p-values, receipts and the gate depend on it.
 */
import {
  NIST_PARAMETERS,
  PValueTally,
  rowLabels,
  runPackedSuite,
  type SuiteReport,
  type TestName,
} from '#sp800-22';
import { SAMPLE_BITS } from './sample.ts';

/** Runs the suite on a sample, or some tests of it. Throws as `runPackedSuite`. */
export function runEvidenceSuite(sample: Uint8Array, only?: readonly TestName[]): SuiteReport {
  return runPackedSuite(sample, { parameters: NIST_PARAMETERS, ...(only && { only }) });
}

/** Returns an empty tally of the p-values of these tests. */
export function evidenceTally(tests?: readonly TestName[]): PValueTally {
  return new PValueTally(tests, SAMPLE_BITS, NIST_PARAMETERS);
}

/** Returns the labels of the p-values of a test; one empty string if it has one p-value. */
export function evidenceLabels(test: TestName): readonly string[] {
  return rowLabels(test, SAMPLE_BITS, NIST_PARAMETERS);
}

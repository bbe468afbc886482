/**
 * In: raw samples of a noise source, one per byte. Out: estimates of their min-entropy, and
 * continuous health tests. Standard: NIST SP 800-90B, §4 (health tests) and §6 (estimators; restart
 * tests of §3.1.4).
 */
export { mostCommonValueMinEntropy } from './estimators/most-common-value.ts';
export {
  ASSESSMENT_SAMPLES,
  assessNonIid,
  ESTIMATOR_NAMES,
  type Estimate,
  type EstimatorName,
  type EstimatorProgress,
  firstTooWide,
  MAX_ASSESSED_BITS,
  type NonIidAssessment,
  type NonIidOptions,
  type NotApplicable,
  type Outcome,
  type Outcomes,
} from './estimators/non-iid.ts';
export {
  assessRestarts,
  RESTARTS,
  type RestartAssessment,
  type RestartOptions,
  type SanityCheck,
} from './estimators/restart.ts';
export { NoiseTests, type NoiseVerdict, START_UP_SAMPLES } from './health/noise-tests.ts';

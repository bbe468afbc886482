/**
 * In: raw samples of a noise source, one per byte. Out: estimates of their min-entropy, tests of
 * whether they are independent and identically distributed (IID), and continuous health tests.
 * Standard: NIST SP 800-90B, §4 (health tests), §5 (IID tests) and §6 (estimators; restart tests of
 * §3.1.4).
 */
export { assessConditioning, type Conditioning, type ConditioningInput } from './conditioning.ts';
export { mostCommonValueMinEntropy } from './estimators/most-common-value.ts';
export {
  ASSESSMENT_SAMPLES,
  assessConditioned,
  assessNonIid,
  bitsOfGreatest,
  type ConditionedAssessment,
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
  FALSE_ALARM as RESTART_FALSE_ALARM,
  RESTARTS,
  type RestartAssessment,
  type RestartAward,
  type RestartOptions,
  type SanityCheck,
} from './estimators/restart.ts';
export { NoiseTests, type NoiseVerdict, START_UP_SAMPLES } from './health/noise-tests.ts';
export { ALPHA as IID_TEST_ALPHA } from './iid/chi-square.ts';
export {
  FAILING_RANK,
  PERMUTATIONS,
  type PermutationCounts,
  type PermutationJob,
  type PermutationProgress,
  type PermutationResult,
  type PermutationRunner,
  Permuter,
} from './iid/permutation-tests.ts';
export {
  assessIidRestarts,
  type IidRestartAssessment,
  type IidRestartOptions,
} from './iid/restart.ts';
export { STATISTIC_NAMES, type StatisticName } from './iid/statistics.ts';
export {
  assessIid,
  IID_MINIMUM_SAMPLES,
  type IidAssessment,
  type IidOptions,
  type IidProgress,
  type IidTestOptions,
  type IidTests,
  testIid,
} from './iid/track.ts';

/**
 * Stage 1 of 7. In: the operating system and optional further sources. Out: health-tested bytes,
 * the entropy credited to them, and seed material for stage 2. Standard: NIST SP 800-90B.
 */
export { BackgroundSource } from './background.ts';
export { creditOfKey, type SeedCredit } from './credits.ts';
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
export { NoiseFailure, type NoiseReader } from './noise.ts';
export { SOURCE_EVENTS, type SourceEvent } from './noise-pump.ts';
export { type Pool, PooledSource } from './pool.ts';
export { collectSamples, givesRawNoise, openRawReader } from './raw.ts';
export {
  isBackground,
  isRemote,
  isSourceName,
  openSource,
  SOURCE_NAMES,
  sourceAssessment,
  sourceCreditBits,
  sourceKind,
} from './registry.ts';
export { samplesAfterRestart } from './restarted-source.ts';
export { gatherSeed, type SeedMaterial } from './seed.ts';
export {
  type BackgroundName,
  type DirectName,
  type Draw,
  type EntropySource,
  SOURCE_STATES,
  type SourceKind,
  type SourceName,
  type SourceState,
  type SourceStatus,
} from './source.ts';
export { OS_STRENGTH_BITS } from './sources/os.ts';

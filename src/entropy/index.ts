/**
 * Stage 1 of 7. In: the operating system and optional further sources. Out: health-tested bytes,
 * the entropy credited to them, and seed material for stage 2. Standard: NIST SP 800-90B.
 */
export { countOnes, mostCommonValueMinEntropy } from './estimators/most-common-value.ts';
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
export {
  isQuantum,
  isSourceName,
  openSource,
  SOURCE_NAMES,
  sourceKind,
} from './registry.ts';
export { gatherSeed, type SeedMaterial } from './seed.ts';
export type { Draw, EntropySource, SourceKind, SourceName, SourceStatus } from './source.ts';
export { PRIME_PHASE_CIRCUIT } from './sources/circuit.ts';

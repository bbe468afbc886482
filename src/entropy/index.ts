/**
 * Stage 1 of 8. In: the operating system and optional further sources. Out: health-tested bytes,
 * the entropy credited to them, and seed material for stage 2. Standard: NIST SP 800-90B.
 *
 * If a source fails that generators read directly, `monitored-source.ts` throws, and so does the request; a repeated draw latches
 * it. A background source that fails is tried again, or latched, by `noise-pump.ts`; keys are made without it.
 */
export { BackgroundSource } from './background.ts';
export { creditOfKey, type SeedCredit, type SourceCredit, sourcesOfKey } from './credits.ts';
export { RecentDigests } from './health/recent-digests.ts';
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
  type Draw,
  type EntropySource,
  SOURCE_STATES,
  type SourceName,
  type SourceStatus,
} from './source.ts';
export { OS_STRENGTH_BITS } from './sources/os.ts';

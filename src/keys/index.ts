/**
 * Where the stages meet: generation and validation composed, and the threads they run on.
 * `generate.ts` reads as the data path; `service.ts` is what the HTTP layer calls.
 */
export { sampleStream } from './generate.ts';
export { Generator, SAMPLE_BITS } from './generator.ts';
export { parseKeyId } from './key-id.ts';
export { type Defect, type FailedVerdict, LATCH_TESTS, type LatchCause } from './latch.ts';
export type { LedgerStatus } from './ledger-watch.ts';
export {
  checkMasterSecret,
  createMasterSecret,
  foreignSecretProblem,
  loadMasterSecret,
  readMasterSecret,
  rotateMasterSecret,
} from './master-secret.ts';
export type { RetiredVersion } from './messages.ts';
export {
  type KeyObserver,
  QUEUE_NAMES,
  type QueueName,
  type ServiceLoad,
  type Stage,
  type StageListener,
} from './observer.ts';
export {
  type Evidence,
  type GenerateOutcome,
  type KeyOrder,
  SECURITY_LEVELS,
  type SecurityLevel,
  type StreamReport,
} from './order.ts';
export { STREAM_NAMES, STREAM_TESTS, type StreamName } from './p-values.ts';
export type { Readiness } from './readiness.ts';
export { requireSelfTests, runSelfTests } from './self-test.ts';
export { KeyService } from './service.ts';
export type { KeyServiceOptions, ReleasedKeys } from './service-options.ts';
export type { ServiceSources } from './sources.ts';
export { type KeyApi, StartingService } from './starting-service.ts';
export { type SelfTestResult, suiteSelfTest } from './suite-self-test.ts';
export {
  VALIDATION_WORDS,
  type ValidateOutcome,
  type ValidationVerdict,
  validationWord,
} from './validate.ts';

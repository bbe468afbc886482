/**
 * The path of one key, where the stages meet: `generate.ts` is the data path, `validate.ts` the way back. This folder
 * decides about single keys and generators. Threads, queues and the ledger's database belong to `service/`.
 */

export { answerDigest } from './answer-digest.ts';
export { EVIDENCE_TESTS, evidenceLabels } from './evidence-suite.ts';
export { sampleStream } from './generate.ts';
export { Generator } from './generator.ts';
export { wipeKey } from './key-receipt.ts';
export { type Defect, type EvidenceWarning, LATCH_TESTS, type LatchCause } from './latch.ts';
export {
  type BatchTooLarge,
  deliveredUntilMs,
  type Evidence,
  type GenerateOutcome,
  type KeyDelivery,
  type KeyFacts,
  type KeyOrder,
  type KeyRequest,
  MAX_BATCH_KEYS,
  MAX_SEALED_COPIES,
  type Recipient,
  type ReleasedKey,
  type SealedResponseKey,
  type SealTo,
  type SecurityLevel,
  type StreamReport,
} from './order.ts';
export { STREAM_NAMES, STREAM_TESTS, type StreamName } from './p-values.ts';
export { SAMPLE_BITS } from './sample.ts';
export { sealSelfTest } from './seal-self-test.ts';
export { requireAlgorithms, requireSelfTests, runSelfTests } from './self-test.ts';
export { keyStatement } from './statement.ts';
export { type SelfTestResult, suiteSelfTest } from './suite-self-test.ts';
export {
  formatDeliveryId,
  formatKeyId,
  isLabelName,
  isLabelValue,
  KEY_STATUSES,
  keyEntry,
  keyStatus,
  LABEL_NAME,
  LABEL_VALUE,
  MAX_LABELS,
  parseDeliveryId,
  parseKeyId,
  SECURITY_LEVELS,
} from './terms.ts';
export { VALIDATION_WORDS, type ValidationVerdict, validationWord } from './validate.ts';

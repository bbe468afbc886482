/** Client of the PHM key service. */
export { PhmClient } from './client.ts';
export type {
  BatchCallOptions,
  CallOptions,
  KeyCallOptions,
  PhmClientOptions,
} from './client-options.ts';
export type { Deliveries } from './deliveries.ts';
export {
  type FieldError,
  PhmApiError,
  PhmConnectionError,
  PhmError,
  PhmKeyLostError,
  PhmResponseError,
  PhmTimeoutError,
} from './errors.ts';
export type { ByteStream } from './files/bytes.ts';
export { EncryptedFileError, type EncryptedFileErrorCode } from './files/errors.ts';
export type { EncryptOptions } from './files/file-key.ts';
export {
  decryptFile,
  encryptedFileKey,
  type OutputOptions,
  reseal,
  type WrittenFile,
} from './files/files.ts';
export {
  type DecryptOptions,
  decryptStream,
  type EncryptedFileInfo,
  type FileStream,
  type ResealOptions,
  readFileKey,
  resealStream,
} from './files/streams.ts';
export type { RequestEvent, RetryEvent } from './hooks.ts';
export {
  type HexKey,
  type KeyAlgorithm,
  type KeyHolder,
  type KeyUsage,
  keyBytes,
  toCryptoKey,
  type WebCryptoKey,
} from './key.ts';
export type { Limit, Limits } from './limits.ts';
export type { EvidenceReport } from './receipt/evidence.ts';
export { parseReceiptText } from './receipt/json.ts';
export type {
  Delivery,
  KeyStatement,
  KeyStatementV1,
  KeyStatementV2,
  Receipt,
} from './receipt/tlog.ts';
export { UnreadableError } from './receipt/unreadable.ts';
export type { ReceiptVerdict } from './receipt/verdict.ts';
export { type ReceiptOptions, verifyReceipt } from './receipt/verify.ts';
export type { ExpectedRecipient } from './sealing/expected.ts';
export {
  formatRecipient,
  formatRecipientKey,
  publicKeyProblem,
  type Recipient,
  type RecipientKey,
  SEAL_SUITES,
  type SealedKey,
  type SealHeader,
  type SealHeaderV1,
  type SealHeaderV2,
  type SealSuite,
  type SealSuiteName,
  thumbprintOf,
} from './sealing/formats.ts';
export {
  type OpenedSealedKey,
  type OpenOptions,
  openSealedKey,
  SealedKeyError,
} from './sealing/open.ts';
export {
  newRecipient,
  parseRecipient,
  parseRecipientKey,
  sealTo,
} from './sealing/recipient.ts';
export type {
  BatchKey,
  BatchSealedKey,
  DeliveredKey,
  DeliveryList,
  DeliveryListQuery,
  DeliveryResult,
  ErrorCode,
  FetchResult,
  GenerateBatchRequest,
  GenerateDeliveredBatchRequest,
  GenerateDeliveredRequest,
  GeneratedKey,
  GeneratedSealedKey,
  GeneratedSealedKeys,
  GenerateRequest,
  GenerateSealedBatchRequest,
  GenerateSealedKeysBatchRequest,
  GenerateSealedKeysRequest,
  GenerateSealedRequest,
  Health,
  KeyInfo,
  KeyInfoResult,
  KeyList,
  KeyListQuery,
  Metrics,
  MetricsQuery,
  MetricsSeries,
  NistReport,
  PlainKey,
  PlainRequest,
  Randomness,
  RandomnessQuery,
  ReceiptedKey,
  ReceiptedRequest,
  ReceiptResult,
  RemoveResult,
  ReportedKey,
  ReportedRequest,
  RevocationReason,
  SealedKeyFor,
  SealTo,
  SeriesQuery,
  ValidatedKey,
  ValidatedRequest,
  ValidateRequest,
  ValidationResult,
  Warning,
} from './types.ts';

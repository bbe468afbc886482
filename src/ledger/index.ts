/**
 * Stage 6 of 8. In: records and digests, in batches. Out: one durable outcome per request. Standard: none;
 * `store.ts` and `docs/ledger.md` describe the guarantees.
 */
export {
  type AccountChange,
  type AccountChangeOutcome,
  type AccountState,
  accountState,
} from './account-states.ts';
export { ApiKeyHistories } from './api-key-history.ts';
export {
  type ApiKeyLimit,
  type ApiKeyRecord,
  type ApiKeyRules,
  type ApiKeySettings,
  MAX_ADDRESS_RANGES,
  MAX_API_KEY_NAME,
  MAX_API_KEY_RECIPIENTS,
  SCOPES,
  type Scope,
} from './api-keys.ts';
export { type ClockReading, isUrgent, requireBelieved } from './clock-check.ts';
export {
  BOX_LIMITS,
  BOX_STATES,
  type BoxLimits,
  COPY_STATES,
  type CopyAction,
  type CopyOrder,
  type CopyPage,
  type CopyQuery,
  type CopyState,
  type DeliveryOrder,
  type DeliveryRecord,
  type DeliveryRefusal,
  type TakenCopy,
  type WaitingQuery,
  type WithdrawnDeliveries,
} from './deliveries.ts';
export type { LedgerIdentity } from './identity.ts';
export { checkAtStart, IntegrityWatch, type StartCheck } from './integrity.ts';
export {
  type AuditedRevocation,
  type KeyEnd,
  type KeyPage,
  type KeyQuery,
  type KeyRecord,
  type KeyRecordStore,
  type KeyState,
  type KeyStateRecord,
  REVOCATION_REASONS,
  type RevocationOrder,
  type RevocationOutcome,
  type RevocationReason,
  type RevokedState,
  type SettledRevocation,
} from './key-records.ts';
export { keyIdMs } from './key-time.ts';
export { type LatencyCounts, latencyPercentileUs } from './latency.ts';
export type {
  LedgerRow,
  PendingEntry,
  RecordedEvidence,
  RecordedReceipt,
  RecordedRow,
  RowDelivery,
  RowReceipt,
  RowSeal,
} from './ledger-row.ts';
export {
  databaseHosts,
  describeStore,
  type StoreLocation,
  serverLocation,
  shareAmongThreads,
  storeLocation,
} from './location.ts';
export { faultsOf, type LogRowFault } from './log-faults.ts';
export {
  type AuditAction,
  type AuditRecord,
  detailsOf,
  type Edge,
  type Extend,
  type HeadSeal,
  type LogCounts,
  type LogEntry,
  type LogPosition,
  type LogRecord,
  type LogStore,
  type Tile,
  type Turn,
  type TurnOutcome,
} from './log-store.ts';
export { Maintenance, removedSome } from './maintenance.ts';
export { mayPass } from './may-pass.ts';
export {
  migrateStore,
  openStore,
  openStoreToChange,
  openStoreToRead,
} from './open.ts';
export type { Quotas } from './quota-decision.ts';
export type { RecordedKey } from './recorded-key.ts';
export type { CheckReport } from './sqlite/check.ts';
export { sqliteBytes } from './sqlite/file-size.ts';
export { refuseLostDatabase } from './sqlite/files.ts';
export { openSqliteStore } from './sqlite/store.ts';
export type {
  Account,
  AccountActivity,
  AccountRecord,
  AccountStore,
  AnswerQuery,
  CommitOutcome,
  DeliveryRefused,
  FailedRequest,
  IdempotencyRecord,
  KeyEvidence,
  LedgerStore,
  MeteredRequest,
  PeriodSums,
  Principal,
  ProbeOrder,
  PruneReport,
  QuotaExceeded,
  RecipientRecord,
  Retirement,
  SealedOnly,
  SecretCheck,
  SeriesQuery,
  StoredAnswer,
  StreamCounts,
  WithdrawnAnswer,
} from './store.ts';
export { SEALED_ONLY } from './store.ts';
export { unavailable } from './unavailable.ts';
export { tighterUsage, type Usage } from './usage.ts';

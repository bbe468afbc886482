/**
 * Stage 6 of 8. In: records and digests, in batches. Out: one durable outcome per request. Standard: none;
 * `store.ts` and `docs/ledger.md` describe the guarantees.
 */
export { type ClockReading, isUrgent, requireBelieved } from './clock-check.ts';
export { checkAtStart, IntegrityWatch, type StartCheck } from './integrity.ts';
export { type LatencyCounts, latencyPercentileUs } from './latency.ts';
export type {
  LedgerRow,
  PendingEntry,
  RecordedEvidence,
  RecordedReceipt,
  RecordedRow,
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
export type {
  AuditAction,
  AuditRecord,
  Edge,
  Extend,
  Extension,
  HeadSeal,
  LogCounts,
  LogEntry,
  Logged,
  LogPosition,
  LogRecord,
  LogStart,
  LogStore,
  Tile,
  Turn,
  TurnOutcome,
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
export type { CheckReport } from './sqlite/check.ts';
export { refuseLostDatabase } from './sqlite/files.ts';
export { openSqliteStore, type SqliteStoreOptions } from './sqlite/store.ts';
export type {
  Account,
  AccountActivity,
  AccountStore,
  AnswerQuery,
  ApiKeyRecord,
  CommitOutcome,
  FailedRequest,
  IdempotencyRecord,
  KeyEvidence,
  LedgerStore,
  MeteredRequest,
  NewAccount,
  PeriodSums,
  Principal,
  ProbeOrder,
  PruneReport,
  QuotaExceeded,
  RecipientAddition,
  RecipientRecord,
  RecordedKey,
  Retirement,
  SealedOnly,
  SecretCheck,
  SeriesQuery,
  StoredAnswer,
  StreamCounts,
  Usage,
} from './store.ts';
export { SEALED_ONLY } from './store.ts';

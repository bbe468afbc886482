/**
 * Stage 6 of 7. In: records and digests, in batches. Out: one outcome a request, after it is durable.
 * Standard: none; the guarantees are in `store.ts` and `docs/ledger.md`.
 */
export { openStore, type StoreLocation } from './open.ts';
export { openSqliteStore, type SqliteStoreOptions } from './sqlite.ts';
export type {
  Account,
  AccountMetrics,
  AccountStore,
  ApiKeyRecord,
  CommitmentQuery,
  CommitOutcome,
  FailedRequest,
  LedgerRow,
  LedgerStore,
  MeteredRequest,
  Principal,
  SecretCheck,
  StreamCounts,
  Usage,
  ValidationSummary,
} from './store.ts';

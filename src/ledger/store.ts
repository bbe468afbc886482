/**
 * The contract of a ledger store. `test/ledger/contract.ts` runs it against every store.
 *
 * Every method rejects with `AppError('ledger_unavailable')` if the database cannot do its part, and with `foreign_ledger`
 * if its address leads to another ledger than before. Every other expected result is a value. No method takes or returns key bytes.
 */
import type { Clock } from '../clock.ts';
import type { Commitment } from '../proof/index.ts';
import type { AccountChange, AccountChangeOutcome, AccountMarks } from './account-states.ts';
import type { ApiKeyLimit, ApiKeyRules, ApiKeyStore } from './api-keys.ts';
import type { ClockReading } from './clock-check.ts';
import type { DeliveryOrder, DeliveryRefusal, DeliveryStore } from './deliveries.ts';
import type { LedgerIdentity } from './identity.ts';
import type { KeyRecordStore } from './key-records.ts';
import type { LatencyCounts } from './latency.ts';
import type { LedgerRow } from './ledger-row.ts';
import type { AuditRecord, LogStore } from './log-store.ts';
import type { RecordedKey } from './recorded-key.ts';
import type { Usage } from './usage.ts';

/** How many streams the statistical suite judged, and how many passed its gate. */
export interface StreamCounts {
  readonly streams: number;
  readonly streamsPassed: number;
}

/**
 * One metered request: generated keys with their rows, or a validation without any. The store decides on the
 * month: PostgreSQL by its own clock at the commit, SQLite by `atMs`.
 */
export interface MeteredRequest {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly atMs: number;
  /** Up to 1,000 rows, which are written together or not at all. A validation has none. */
  readonly keys: readonly LedgerRow[];
  /** Streams of all keys together. */
  readonly counts: StreamCounts;
  /** Null for a request without an `Idempotency-Key`. */
  readonly idempotency: IdempotencyRecord | null;
  /** Absent for an API key without a monthly limit. */
  readonly apiKeyLimit?: ApiKeyLimit | undefined;
  /** Absent for keys that are not delivered. */
  readonly delivery?: DeliveryOrder | undefined;
}

/** The part of a request that a retry with the same `Idempotency-Key` needs. The commit stores it. */
export interface IdempotencyRecord {
  /** 1 to 255 visible ASCII characters, unique within the account for 24 hours. */
  readonly key: string;
  /** SHA-256 of the request, 32 bytes. The store compares nothing: the caller does. */
  readonly requestHash: Uint8Array;
  /** The response body without receipts, at most 4 MiB; null for plaintext keys, which are not kept. */
  readonly body: string | null;
}

/** The stored outcome of an earlier request with the same `Idempotency-Key`. */
export interface StoredAnswer {
  readonly requestHash: Uint8Array;
  /** In the order of the request's rows. */
  readonly keyIds: readonly Uint8Array[];
  /** `atMs` of the earlier request. */
  readonly createdMs: number;
  /** Null for keys in plaintext. Stores return it only for an equal `requestHash`: another request gets no body of 4 MiB. */
  readonly body: string | null;
}

/** Asks for the answer of an earlier request. */
export interface AnswerQuery extends Pick<IdempotencyRecord, 'key' | 'requestHash'> {
  readonly accountId: string;
  readonly atMs: number;
}

/** The kept answer to a request whose keys must not be released. */
export interface WithdrawnAnswer extends Pick<IdempotencyRecord, 'key'> {
  readonly accountId: string;
  /** Key IDs of the answer, in its order: a later answer has others. */
  readonly keyIds: readonly Uint8Array[];
}

/** A generate call that was answered 5xx. The next commit counts it. */
export interface FailedRequest {
  readonly accountId: string;
  readonly atMs: number;
  readonly counts: StreamCounts;
}

/** The account's quota for this month, or the limit of its API key, has no room for all keys of the request. */
export interface QuotaExceeded {
  readonly kind: 'quota_exceeded';
  readonly usage: Usage;
}

/** The keys cannot be delivered. Nothing was written or counted. */
export interface DeliveryRefused {
  readonly kind: 'delivery_refused';
  readonly refusal: DeliveryRefusal;
}

export type CommitOutcome =
  | { readonly kind: 'committed'; readonly usage: Usage }
  | QuotaExceeded
  /** An earlier request with the same `Idempotency-Key` was committed. Nothing was written or counted. */
  | { readonly kind: 'replayed'; readonly answer: StoredAnswer; readonly usage: Usage }
  | DeliveryRefused
  /** The ledger already holds one of the commitments: the generator has repeated a key. Nothing was written. */
  | { readonly kind: 'repeated_key' }
  /** Another session keeps a row of the account locked (PostgreSQL). Nothing was written: try it with a later batch. */
  | { readonly kind: 'account_locked' }
  /** This server lacks the plan of the account. Nothing was written. */
  | { readonly kind: 'unknown_plan' };

export interface Account extends AccountMarks {
  readonly accountId: string;
  readonly name: string;
  readonly plan: string;
  readonly demo: boolean;
  readonly createdMs: number;
  readonly sealedOnly: SealedOnly;
}

/**
 * The keys that an account may generate. `off`: all. `on`: only sealed ones. `registered`: only those sealed to a
 * recipient that is registered for the account, so that the request cannot name another public key.
 */
export type SealedOnly = 'off' | 'on' | 'registered';

export const SEALED_ONLY: readonly SealedOnly[] = ['off', 'on', 'registered'];

/** A new account is active, and may generate plaintext keys until `setSealedOnly`. */
export type NewAccount = Omit<Account, 'sealedOnly' | keyof AccountMarks>;

/** An account with the audit record of its last change of state; null without one. */
export interface AccountRecord extends Account {
  readonly change: AuditRecord | null;
}

/** A public key that an account registered by name. */
export interface RecipientRecord {
  readonly accountId: string;
  /** Unique within the account. */
  readonly name: string;
  readonly suite: string;
  /** Raw serialisation of the suite's KEM. */
  readonly publicKey: Uint8Array;
  readonly createdMs: number;
}

/** `taken`: the account already has a recipient of this name. `unknown_account`: also a deleted one. */
export type RecipientAddition = 'added' | 'taken' | 'unknown_account';

/** An API key that is not revoked, with its rules, its account, and the account's usage this month. */
export interface Principal {
  readonly apiKeyId: string;
  readonly accountId: string;
  readonly plan: string;
  readonly demo: boolean;
  readonly sealedOnly: SealedOnly;
  /** True if the account is suspended. */
  readonly suspended: boolean;
  /** Usage of the account's quota. */
  readonly usage: Usage;
  /** Null for an API key without rules. */
  readonly rules: ApiKeyRules | null;
  /** Hours since 1970 of the last recorded use. */
  readonly lastUsedHour: number | null;
}

/**
 * Sums of an account over a period, which clients see as metrics. `Usage` is what counts against the quota.
 */
export interface AccountActivity {
  readonly keys: number;
  readonly latencyUs: number;
  readonly streams: number;
  readonly streamsPassed: number;
  readonly metered: number;
  readonly failures: number;
  readonly activeApiKeys: number;
}

/** Steps of equal length from `startMs` on. Start and length are whole multiples in UTC. */
export interface SeriesQuery {
  readonly accountId: string;
  readonly startMs: number;
  readonly stepMinutes: number;
  readonly steps: number;
}

/** Sums of an account over one step of a series. */
export interface PeriodSums {
  readonly keys: number;
  readonly latencyUs: number;
  readonly streams: number;
  readonly streamsPassed: number;
  readonly metered: number;
  readonly failures: number;
  /** Null unless they count every key: sums of earlier releases have no latencies. */
  readonly latencies: LatencyCounts | null;
}

/** The p-values of one validated key and the time of its record. */
export interface KeyEvidence {
  readonly atMs: number;
  /** What the p-values describe, as in `RecordedEvidence`. */
  readonly definition: number;
  readonly pValues: Uint8Array;
}

/** Thoroughness of a probe. */
export interface ProbeOrder {
  /** Accounts whose requests failed, perhaps because another session locks their rows. */
  readonly accountIds: readonly string[];
  /** If true, the probe also shows that a large batch has room and that a write becomes durable. */
  readonly room: boolean;
}

/** Scope of a pruning run. */
export interface PruneOrder {
  /** Rows of keys older than this go. The time is the one in the key ID. */
  readonly keepMs: number;
  /** The caller's clock. The store checks it first: `readClock`. */
  readonly clock: Clock;
  /** Counts everything that would go and removes nothing. */
  readonly dryRun: boolean;
  /** Set if an operator confirms the clock. SQLite then trusts it; PostgreSQL uses only its own clock. */
  readonly acceptClock?: boolean;
  /** Stops the work early, at the end of a small piece. */
  readonly signal?: AbortSignal;
}

export interface PruneReport {
  readonly rows: number;
  readonly minuteSums: number;
  /** PostgreSQL: names of the months' tables that were dropped whole. */
  readonly partitions: readonly string[];
  /** The time up to which this run removes rows of keys. */
  readonly beforeMs: number;
  /** True if rows older than `keepMs` remain for further runs. One run removes at most 31 days. */
  readonly isPartial: boolean;
}

/** The database's record of one version of the master secret. */
export interface SecretCheck {
  /** 32 bytes that identify this secret and reveal nothing about it. */
  readonly checkValue: Uint8Array;
  /** True if keys may have been generated under this version. */
  readonly activated: boolean;
  /** Null unless the version is retired. */
  readonly retirement: Retirement | null;
}

/** A version of the master secret that may have leaked: a key generated under it needs its row. */
export interface Retirement {
  readonly retiredMs: number;
  /** Only rows written before this time count; null: all rows count. */
  readonly compromisedMs: number | null;
}

/**
 * Accounts, API keys and versions of the master secret. A method that takes an audit record writes it in the
 * same transaction, and only if it changes something.
 */
export interface AccountStore extends ApiKeyStore {
  /**
   * Returns the principals of API keys by their hashes, in the same order; undefined if a key is unknown or
   * revoked, or its account deleted. The caller judges the rules. All cases cost the ledger the same work. `nowMs` is the
   * caller's time; PostgreSQL takes the month from its own clock. If this server lacks the account's plan, the quota is 0.
   */
  authenticate(keyHashes: readonly Uint8Array[], nowMs: number): Promise<(Principal | undefined)[]>;
  /** Adds an account. Returns false and changes nothing if the ID is taken. */
  addAccount(account: NewAccount, audit?: AuditRecord | null): Promise<boolean>;
  /** Returns all accounts, also deleted ones, in the order of their creation. */
  listAccounts(): Promise<Account[]>;
  findAccount(accountId: string): Promise<AccountRecord | null>;
  /**
   * Changes the state of an account, with its audit record, if `after` is the record of the last change. A deletion is
   * final: it erases the name, revokes all API keys, erases their names and address ranges, and removes all recipients with their boxes.
   */
  changeAccountState(change: AccountChange, audit: AuditRecord): Promise<AccountChangeOutcome>;
  /** Returns the accounts that are not deleted and whose plan is none of these, in the order of their creation. */
  accountsOutside(plans: readonly string[]): Promise<Pick<Account, 'accountId' | 'plan'>[]>;
  /** Returns false if there is no such account, or it is deleted. */
  setPlan(accountId: string, plan: string, audit?: AuditRecord | null): Promise<boolean>;
  /**
   * Sets which keys the account may generate. Returns false if there is no such account, or it is deleted. Once an account has a rule
   * other than `off`, programs that do not know it refuse to open the ledger.
   */
  setSealedOnly(accountId: string, rule: SealedOnly, audit?: AuditRecord | null): Promise<boolean>;
  /** Adds a recipient. Changes nothing unless it returns `added`. */
  addRecipient(record: RecipientRecord, audit?: AuditRecord | null): Promise<RecipientAddition>;
  /** Removes a recipient, and the copies of its box. Returns false if the account has no recipient of this name. */
  removeRecipient(accountId: string, name: string, audit?: AuditRecord | null): Promise<boolean>;
  /** Returns the recipients of one account, or all, by account and name. */
  listRecipients(accountId?: string): Promise<RecipientRecord[]>;
  findRecipient(accountId: string, name: string): Promise<RecipientRecord | null>;

  /** Returns the registered versions of the master secret. */
  secretChecks(): Promise<ReadonlyMap<number, SecretCheck>>;
  /** Registers the check value of a version that has none. */
  registerSecret(version: number, checkValue: Uint8Array, atMs: number): Promise<void>;
  /** Marks a registered version as one that generates keys. A second call keeps the first time. */
  activateSecret(version: number, atMs: number, audit?: AuditRecord | null): Promise<void>;
  /**
   * Retires a registered version, or tightens its retirement: the store keeps the first `retiredMs` and the
   * earliest `compromisedMs`. Returns false if the version is not registered.
   */
  retireSecret(
    version: number,
    retirement: Retirement,
    audit?: AuditRecord | null,
  ): Promise<boolean>;
  /** Undoes a retirement. Returns false if the version is not registered. */
  reinstateSecret(version: number, audit?: AuditRecord | null): Promise<boolean>;
  /** Writes an audit record and its pending entry. */
  addAudit(audit: AuditRecord): Promise<void>;

  close(): Promise<void>;
}

export interface LedgerStore extends AccountStore, LogStore, KeyRecordStore, DeliveryStore {
  /** The host of PostgreSQL in use, as in its address; null with SQLite, and while no host can be used. */
  readonly host: string | null;
  /** Reads which ledger this is, for other connections of this process. Rejects with `foreign_ledger` if it is another one than before. */
  identity(): Promise<LedgerIdentity>;
  /**
   * Commits a batch in one transaction and resolves only when it is durable. Each request either moves its
   * account's counter and writes all its rows, or is replayed or refused and leaves nothing. Requests are decided
   * in order, so the last places of a quota go to the first that fit, and of two requests with one
   * `Idempotency-Key` the first commits. Each is judged for a replay, then by its quota and the limit of its API key, then
   * by its deliveries, then for repeated keys. The usage of an outcome is the tighter one of the two.
   */
  commit(
    requests: readonly MeteredRequest[],
    failures: readonly FailedRequest[],
  ): Promise<CommitOutcome[]>;
  /**
   * Returns for each query the answer of a request of the last 24 hours with its `Idempotency-Key`; null without one.
   * PostgreSQL uses its own clock instead of `atMs`, and returns only answers that are as durable as a confirmed commit.
   */
  findAnswers(queries: readonly AnswerQuery[]): Promise<(StoredAnswer | null)[]>;
  /**
   * Removes the answer of a committed request, whose keys must not be released. Returns false if there is none with these
   * keys. A retry then generates others.
   */
  withdrawAnswer(answer: WithdrawnAnswer): Promise<boolean>;
  /**
   * Shows whether a key could be recorded now: writes what a key writes and rolls it back. Rejects with
   * `ledger_unavailable` if not. Returns true if another session locks a row of one of the accounts,
   * without waiting for it.
   */
  probe(order: ProbeOrder): Promise<boolean>;
  /** Returns the recorded keys with these IDs, in the same order; null for a key without a row. */
  findKeys(keyIds: readonly Uint8Array[]): Promise<(RecordedKey | null)[]>;
  /**
   * Returns the time of the first row of each commitment, in any account, from its key ID; null without a
   * row. Only the fingerprints reach the database. If one has more than `MAX_CANDIDATES` rows, the store
   * may read any of them.
   */
  findCommitments(commitments: readonly Commitment[]): Promise<(number | null)[]>;
  /** Returns the sums of an account from a whole minute (`sinceMs`, rounded down) to now. */
  activity(accountId: string, sinceMs: number): Promise<AccountActivity>;
  /** Returns the size of the database in bytes, with everything that it holds. A server on SQLite asks `sqliteBytes`, which needs no store. */
  sizeBytes(): Promise<number>;
  /** Returns the sums of an account over time, one per step. */
  series(query: SeriesQuery): Promise<PeriodSums[]>;
  /**
   * Returns the evidence of an account's last validated keys, at most `limit`, oldest first. Keys without
   * p-values are left out.
   */
  keyEvidence(accountId: string, limit: number): Promise<KeyEvidence[]>;
  /** Compares a clock with what the ledger knows about the time. Changes nothing. */
  readClock(clock: Clock): Promise<ClockReading>;
  /**
   * Records that an operator confirms this clock. SQLite trusts it from now on; PostgreSQL uses only its
   * own clock.
   */
  acceptClock(clock: Clock): Promise<void>;
  /**
   * Does the daily upkeep, safe to repeat: creates months ahead, removes traces of servers that are gone, expired
   * idempotency records and expired copies, and with SQLite compares the clock and remembers the result.
   */
  maintain(clock: Clock): Promise<void>;
  /**
   * Removes old rows in small pieces, at most 31 days of them, beside running servers and other runs.
   * Rejects with `SetupError` and removes nothing if the clock is in doubt. Also rejects if a month stays
   * locked; earlier months have then already been removed.
   */
  prune(order: PruneOrder): Promise<PruneReport>;
  /**
   * Builds indexes that a migration could not build without stopping commits, beside running servers. Takes a minute and
   * more for tens of millions of rows.
   */
  completeIndexes(signal?: AbortSignal): Promise<void>;
}

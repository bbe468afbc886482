/**
 * The contract of a ledger store. `test/ledger/contract.ts` holds every store to it.
 *
 * All methods reject with `AppError('ledger_unavailable')` when the database cannot do its part;
 * everything else that can be expected is a value. No method takes or returns key bytes.
 */
import type { Clock } from '../clock.ts';
import type { Commitment } from '../proof/index.ts';
import type { ClockReading } from './clock-check.ts';
import type { LatencyCounts } from './latency.ts';

/** What the ledger keeps of one generated key. */
export interface LedgerRow {
  /** UUIDv7, 16 bytes. */
  readonly keyId: Uint8Array;
  /** Keyed digest of the key, and the version of the master secret behind it. */
  readonly commitment: Commitment;
  readonly securityLevel: number;
  readonly modulation: string;
  readonly source: string;
  readonly createdMs: number;
  readonly latencyUs: number;
  readonly entropyBits: number;
  readonly entropyJobId: string | null;
  /** Null when the key was generated without statistical evidence. */
  readonly evidence: RecordedEvidence | null;
}

/** What the ledger keeps of the evidence for a key. */
export interface RecordedEvidence {
  /** Which streams were tested how: `EVIDENCE_DEFINITION` of `keys/evidence.ts` when the key was made. */
  readonly definition: number;
  readonly gateP: number;
  readonly testsPassed: number;
  readonly totalTests: number;
  /** The p-values of both streams, as `keys/p-values.ts` packs them. */
  readonly pValues: Uint8Array;
}

/** Streams that were put through the statistical suite, and how many of them passed its gate. */
export interface StreamCounts {
  readonly streams: number;
  readonly streamsPassed: number;
}

/**
 * One metered request: a generated key with its row, or a validation (no row). Its month is the store's to tell: PostgreSQL
 * goes by its own clock when it commits, SQLite by `atMs`.
 */
export interface MeteredRequest {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly atMs: number;
  readonly key: { readonly row: LedgerRow; readonly counts: StreamCounts } | null;
}

/** A generate call that was answered 5xx, counted with the next commit. */
export interface FailedRequest {
  readonly accountId: string;
  readonly atMs: number;
  readonly counts: StreamCounts;
}

export interface Usage {
  /** UTC calendar month in months since year 0, by the clock that the store goes by. */
  readonly month: number;
  readonly used: number;
  readonly quota: number | null;
}

/** The quota of the account's month is used up. */
export interface QuotaExceeded {
  readonly kind: 'quota_exceeded';
  readonly usage: Usage;
}

export type CommitOutcome =
  | { readonly kind: 'committed'; readonly usage: Usage }
  | QuotaExceeded
  /** The ledger already holds this commitment: the generator has repeated a key. Nothing was written. */
  | { readonly kind: 'repeated_key' };

export interface Account {
  readonly accountId: string;
  readonly name: string;
  readonly plan: string;
  readonly demo: boolean;
  readonly createdMs: number;
}

export interface ApiKeyRecord {
  readonly apiKeyId: string;
  readonly accountId: string;
  readonly hint: string;
  readonly createdMs: number;
  readonly revokedMs: number | null;
}

/** An active API key with its account and what the account has used this month. */
export interface Principal {
  readonly apiKeyId: string;
  readonly accountId: string;
  readonly plan: string;
  readonly demo: boolean;
  readonly usage: Usage;
}

/** What an account has done in a period, which clients know as its metrics. `Usage` is what counts against its quota. */
export interface AccountActivity {
  readonly keys: number;
  readonly latencyUs: number;
  readonly streams: number;
  readonly streamsPassed: number;
  readonly metered: number;
  readonly failures: number;
  readonly activeApiKeys: number;
}

/** Steps of equal length, the first from `startMs` on. Both are whole multiples of UTC. */
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
  /** Null unless they count each of the keys: sums of earlier releases have none. */
  readonly latencies: LatencyCounts | null;
}

/** The p-values of one key with evidence, and when it was recorded. */
export interface KeyEvidence {
  readonly atMs: number;
  /** What the p-values are about, as in `RecordedEvidence`. */
  readonly definition: number;
  readonly pValues: Uint8Array;
}

/** What an operator may ask of one recorded key. */
export interface RecordedKey {
  readonly accountId: string;
  /** Null when the ledger has no such account. */
  readonly accountName: string | null;
  readonly apiKeyId: string;
  readonly createdMs: number;
  readonly securityLevel: number;
  readonly modulation: string;
  /** Whether it was generated with statistical evidence. */
  readonly hasEvidence: boolean;
}

/** How thoroughly a probe looks. */
export interface ProbeOrder {
  /** Accounts whose requests failed, perhaps because others lock their rows. */
  readonly accountIds: readonly string[];
  /** Whether to show also that there is room for a large batch, and that a write becomes durable. */
  readonly room: boolean;
}

/** What is to be removed. */
export interface PruneOrder {
  /** Rows of keys that are older go; the time is the one in their key id. */
  readonly keepMs: number;
  /** The clock of who asks. A store does not take its word for it: `readClock`. */
  readonly clock: Clock;
  /** Counts what would go, all of it, and removes nothing. */
  readonly dryRun: boolean;
  /** An operator says that the clock is right. With SQLite it is believed from then on; PostgreSQL takes its own alone. */
  readonly acceptClock?: boolean;
  /** Ends the work early, at the end of a small piece. */
  readonly signal?: AbortSignal;
}

export interface PruneReport {
  readonly rows: number;
  readonly minuteSums: number;
  /** Months that went as a whole, with PostgreSQL, by the names of their tables. */
  readonly partitions: readonly string[];
  /** The time that this turn goes up to; rows of keys made before it go. */
  readonly beforeMs: number;
  /** Whether older rows than `keepMs` are left to further turns: one removes those of 31 days at most. */
  readonly isPartial: boolean;
}

/** What the database keeps of one version of the master secret. */
export interface SecretCheck {
  /** 32 bytes that belong to this secret alone and tell nothing of it. */
  readonly checkValue: Uint8Array;
  /** Whether keys may have been made under this version. */
  readonly activated: boolean;
  /** Null unless the version is retired. */
  readonly retirement: Retirement | null;
}

/** A version of the master secret that others may know: a key made under it needs its row. */
export interface Retirement {
  readonly retiredMs: number;
  /** Rows count if they were made before this time; null: whenever they were made. */
  readonly compromisedMs: number | null;
}

export interface AccountStore {
  /**
   * The principals of API keys by the keys' hashes, in their order; undefined where a key is unknown or
   * revoked. The ledger does the same work for either. `nowMs` is the time of who asks; PostgreSQL tells the month by
   * its own clock.
   */
  authenticate(keyHashes: readonly Uint8Array[], nowMs: number): Promise<(Principal | undefined)[]>;
  /** Adds an account; false, changing nothing, when the id is taken. */
  addAccount(account: Account): Promise<boolean>;
  listAccounts(): Promise<Account[]>;
  /** Returns false when there is no such account. */
  setPlan(accountId: string, plan: string): Promise<boolean>;
  /** Adds an API key; false, changing nothing, when the id is taken or the account is unknown. */
  addApiKey(record: ApiKeyRecord, keyHash: Uint8Array): Promise<boolean>;
  /** API keys of one account, or of all. */
  listApiKeys(accountId?: string): Promise<ApiKeyRecord[]>;
  /** Whether an API key was ever issued to an account that is no demo account. */
  hasOwnApiKeys(): Promise<boolean>;
  /** Revokes by id; false when there is no such key. Revoking twice keeps the first time. */
  revokeApiKey(apiKeyId: string, atMs: number): Promise<boolean>;

  /** The versions of the master secret that are registered. */
  secretChecks(): Promise<ReadonlyMap<number, SecretCheck>>;
  /** Registers the check value of a version that has none yet. */
  registerSecret(version: number, checkValue: Uint8Array, atMs: number): Promise<void>;
  /** Marks a registered version as one that makes keys; the first time is kept. */
  activateSecret(version: number, atMs: number): Promise<void>;
  /**
   * Retires a registered version, or tightens its retirement: the first `retiredMs` and the earliest
   * `compromisedMs` are kept. False when the version is not registered.
   */
  retireSecret(version: number, retirement: Retirement): Promise<boolean>;
  /** Takes a retirement back; false when the version is not registered. */
  reinstateSecret(version: number): Promise<boolean>;

  close(): Promise<void>;
}

export interface LedgerStore extends AccountStore {
  /**
   * Commits a batch in one transaction and resolves only when it is durable: each request either
   * moves its account's counter and writes its row, or is refused and leaves nothing. Requests are
   * decided in order, so the last free place of a quota goes to the first.
   */
  commit(
    requests: readonly MeteredRequest[],
    failures: readonly FailedRequest[],
  ): Promise<CommitOutcome[]>;
  /**
   * Shows whether a key could be recorded now: writes what a key writes and takes it back. Rejects with
   * `ledger_unavailable`. Otherwise tells whether others lock a row of one of the accounts, and waits for none.
   */
  probe(order: ProbeOrder): Promise<boolean>;
  /** Whose these keys are, and what they are, in their order; null without a row. */
  findKeys(keyIds: readonly Uint8Array[]): Promise<(RecordedKey | null)[]>;
  /**
   * When the first rows of these commitments were made, of any account, by their key ids; null without a row. The
   * database is told the fingerprints alone. Of a fingerprint with more than `MAX_CANDIDATES` rows it may give any so many.
   */
  findCommitments(commitments: readonly Commitment[]): Promise<(number | null)[]>;
  /** Sums of an account from a whole minute (`sinceMs`, rounded down) to now. */
  activity(accountId: string, sinceMs: number): Promise<AccountActivity>;
  /** Sums of an account over time, one a step. */
  series(query: SeriesQuery): Promise<PeriodSums[]>;
  /** The evidence of an account's last keys that have some, at most `limit`, oldest first; those of earlier releases are left out. */
  keyEvidence(accountId: string, limit: number): Promise<KeyEvidence[]>;
  /** Holds a clock against what the ledger knows of the time, and changes nothing. */
  readClock(clock: Clock): Promise<ClockReading>;
  /** An operator says that this clock is right. SQLite believes it from now on; PostgreSQL takes its own alone. */
  acceptClock(clock: Clock): Promise<void>;
  /**
   * What a day needs of upkeep, cheap and safe to repeat: months ahead, traces of servers that are gone, and with SQLite
   * a look at the clock, which is remembered.
   */
  maintain(clock: Clock): Promise<void>;
  /**
   * Removes old rows in small pieces, those of 31 days at most, beside running servers and beside another that does
   * the same. Rejects with `SetupError` when the clock is not believed, and removes nothing then; also when a month is in
   * use all the time: what came before it is removed.
   */
  prune(order: PruneOrder): Promise<PruneReport>;
}

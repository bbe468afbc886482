/**
 * Messages between threads. Keys and their openings travel as transferred buffers, never as copies. The receiver owns
 * and wipes them. `packed-batches.ts` packs the two messages that carry the load.
 */

import type { SampleVerdict } from '../../keys/evidence-suite.ts';
import type { GeneratorStatus } from '../../keys/generator.ts';
import type { EvidenceWarning } from '../../keys/latch.ts';
import type { GeneratedOutcome, Idempotency, KeyOrder, Recipient } from '../../keys/order.ts';
import type { ValidateOutcome, ValidationVerdict } from '../../keys/validate.ts';
import type {
  ApiKeyLimit,
  BoxLimits,
  ClockReading,
  CopyOrder,
  DeliveryOrder,
  DeliveryRefusal,
  DeliveryRefused,
  FailedRequest,
  IdempotencyRecord,
  Principal,
  QuotaExceeded,
  RevocationOrder,
  SettledRevocation,
  StoredAnswer,
  StreamCounts,
  TakenCopy,
  Usage,
  WithdrawnAnswer,
  WithdrawnDeliveries,
} from '../../ledger/index.ts';
import type { Failure } from './failures.ts';
import type { PackedKeys } from './packed-keys.ts';
import type { PackedRows } from './packed-rows.ts';

/** Account, API key and time of a request, for the counters. */
export interface Requester {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly atMs: number;
  /** Absent for an API key without a monthly limit. */
  readonly apiKeyLimit?: ApiKeyLimit | undefined;
}

/** The open log, as workers need it to add entries. */
export interface LogBinding {
  readonly logId: number;
  readonly origin: string;
  /** `softwareName()` of this process, and its number in the database. */
  readonly software: string;
  readonly softwareId: number;
}

/** One piece of work for the key worker. */
export type KeyTask =
  /** Generate a key without evidence, and record it. */
  | {
      readonly kind: 'generate';
      readonly requester: Requester;
      readonly order: KeyOrder;
      readonly idempotency: Idempotency | null;
    }
  /** Record the keys of one request, which suite workers generated: all or none. The keys stay on the main thread. */
  | {
      readonly kind: 'record';
      readonly requester: Requester;
      /** Rows of each job of the request. */
      readonly rows: readonly PackedRows[];
      readonly counts: StreamCounts;
      readonly idempotency: IdempotencyRecord | null;
      /** Absent for keys that are not delivered. */
      readonly delivery?: DeliveryOrder | undefined;
    }
  /** Read the stored answer to an earlier request with this `Idempotency-Key`, and registered recipients. */
  | {
      readonly kind: 'recall';
      readonly requester: Requester;
      readonly idempotency: Idempotency | null;
      /** Names of recipients. */
      readonly names: readonly string[];
      /** The IDs of the deliveries to these recipients; null for keys that are not delivered. */
      readonly delivery: { readonly ids: readonly Uint8Array[]; readonly limits: BoxLimits } | null;
    }
  /** Validate a key (undefined if its format is invalid), and count the request. */
  | {
      readonly kind: 'validate';
      readonly requester: Requester;
      readonly key: Uint8Array | undefined;
      readonly proof: string | undefined;
    }
  /** Count a validation whose verdict is known, because its account was locked before. */
  | {
      readonly kind: 'conclude';
      readonly requester: Requester;
      readonly verdict: ValidationVerdict;
    }
  /** Remove the kept answer of a request whose keys must not be released, and their sealed copies. */
  | {
      readonly kind: 'withdraw';
      readonly answer: WithdrawnAnswer | null;
      readonly deliveries: WithdrawnDeliveries | null;
    }
  /** Revoke a key of an account, for the holder of the API key. */
  | {
      readonly kind: 'revoke';
      readonly order: RevocationOrder;
      readonly apiKeyId: string;
    }
  /** Fetch or remove copies of a box. */
  | { readonly kind: 'take_copies'; readonly order: CopyOrder }
  /**
   * Gather evidence on the generator of plain keys, after which plain keys may be released. With `isLast` no key follows,
   * and the evidence is for the keys already released.
   */
  | { readonly kind: 'gather_evidence'; readonly isLast: boolean }
  /** Draw from the sources, so that a recovered source is noticed. */
  | { readonly kind: 'probe' }
  /** No work. Its batch counts the pending failures, and it completes after them. */
  | { readonly kind: 'flush' }
  | {
      readonly kind: 'authenticate';
      readonly keyHashes: readonly Uint8Array[];
      readonly nowMs: number;
    }
  /** Record that API keys were used in an hour since 1970. */
  | { readonly kind: 'note_uses'; readonly apiKeyIds: readonly string[]; readonly hour: number };

/** A key of the key worker. */
export interface PlainKeyGenerated extends GeneratedOutcome {
  /** Failed samples of the key worker's generator before it. */
  readonly failures: number;
}

export type KeyTaskResult =
  | PlainKeyGenerated
  | QuotaExceeded
  | DeliveryRefused
  | ValidateOutcome
  | { readonly kind: 'recorded'; readonly usage: Usage }
  | { readonly kind: 'revocation'; readonly outcome: SettledRevocation }
  | { readonly kind: 'copies_taken'; readonly copies: readonly (TakenCopy | null)[] }
  /** An earlier request with the same `Idempotency-Key` was committed. The new keys are wiped. */
  | { readonly kind: 'replayed'; readonly answer: StoredAnswer; readonly usage: Usage }
  | {
      readonly kind: 'recalled';
      readonly answer: StoredAnswer | null;
      /** In the order of the names; null if the account has no recipient of the name. */
      readonly recipients: readonly (Recipient | null)[];
      /** Why the keys cannot be delivered; null if they can, or if a recipient is unknown. */
      readonly refusal: DeliveryRefusal | null;
    }
  /** In the order of the hashes. */
  | { readonly kind: 'principals'; readonly principals: readonly (Principal | undefined)[] }
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'probed' }
  | { readonly kind: 'flushed' }
  | { readonly kind: 'uses_noted' }
  | { readonly kind: 'evidence_gathered' }
  /** Not done: the task must wait for a verdict on the generator of plain keys. The queue then sends it again. */
  | { readonly kind: 'evidence_pending' }
  /**
   * Not done: another session keeps a row of the account, or of its key, locked. The queue then sends `again`, or the task itself if that is
   * null.
   */
  | { readonly kind: 'account_locked'; readonly again: KeyTask | null }
  | { readonly kind: 'failed'; readonly failure: Failure };

export interface KeyBatch {
  readonly id: number;
  readonly tasks: readonly KeyTask[];
  readonly failures: readonly FailedRequest[];
}

export interface KeyBatchReply {
  readonly id: number;
  readonly results: readonly KeyTaskResult[];
  /** False if the batch's failures were not recorded and must be sent again. */
  readonly failuresRecorded: boolean;
  /** The batch's transaction; null if there was nothing to commit. */
  readonly commit: CommitTimes | null;
  readonly status: GeneratorStatus;
  /** True if plain keys wait for a verdict. `VerdictNoted` follows then. */
  readonly awaitsVerdict: boolean;
}

/** The part of a `generate` task that tasks share: everything but its two times. */
export interface TaskForm {
  readonly requester: Omit<Requester, 'atMs'>;
  readonly order: Omit<KeyOrder, 'acceptedMs'>;
}

/** A `KeyBatch` as it travels. Only `packed-batches.ts` reads its columns. */
export interface PackedBatch extends Omit<KeyBatch, 'tasks'> {
  /** Numbers of all tasks, in order. */
  readonly columns: Float64Array;
  readonly forms: readonly TaskForm[];
  /** Tasks that do not fit into the columns, in order. */
  readonly others: readonly KeyTask[];
}

/** A `KeyBatchReply` as it travels. Only `packed-batches.ts` reads its columns. */
export interface PackedReply extends Omit<KeyBatchReply, 'results'> {
  /** Numbers of all results, in order. */
  readonly columns: Float64Array;
  /** The keys of all results, in order. */
  readonly keys: PackedKeys;
  /** Of the usage of each result with keys. */
  readonly counterIds: readonly (string | undefined)[];
  /** Results without keys, in order. */
  readonly others: readonly KeyTaskResult[];
}

/** Start and end of a transaction on the monotonic clock, which all threads share, and its result. */
export interface CommitTimes {
  readonly startMs: number;
  readonly endMs: number;
  /** Reason of the failure; null if it succeeded. */
  readonly failure: string | null;
  /** Number of keys recorded. */
  readonly keys: number;
}

/** Counts of a request without judged streams. */
export const NO_STREAMS: StreamCounts = { streams: 0, streamsPassed: 0 };

/**
 * Messages from the main thread to the key worker: work, verdicts, checks, pings, and the end of the ledger's use or of
 * the thread.
 */
export type KeyWorkerMessage =
  | PackedBatch
  | SampleVerdict
  | LedgerCondemned
  | 'check'
  | 'ping'
  | 'close';

/** A check found the ledger damaged: the key worker stops reading and writing it. */
export interface LedgerCondemned {
  readonly damage: string;
}

/** Messages from the key worker once it is ready. */
export type KeyWorkerReply =
  | PackedReply
  | LedgerReport
  | ClockRead
  | RetirementsRead
  | DatabaseMoved
  | EvidenceSample
  | VerdictNoted
  | EvidenceWarning
  | UnvouchedKeys
  | Pong;

/** Answer to a ping: the event loop of the thread runs. */
export interface Pong {
  readonly pong: true;
}

/** Sample of a generator before modulation. It travels by transfer, and the suite worker that judges it wipes it. */
export interface EvidenceSample {
  readonly sample: Uint8Array<ArrayBuffer>;
}

/** The key worker has processed a verdict. */
export interface VerdictNoted {
  readonly verdictNoted: true;
}

/** After a latch: released plain keys without a later good sample of their generator. */
export interface UnvouchedKeys {
  readonly unvouchedKeys: readonly string[];
  /** Time of the last good sample; null before the first. */
  readonly lastGoodMs: number | null;
}

/** A version of the master secret that an operator has retired. */
export interface RetiredVersion {
  readonly version: number;
  /** Only rows from before this time count; null: all rows count. */
  readonly compromisedMs: number | null;
  /** True if it is the current version of this server. */
  readonly current: boolean;
}

/** Changed retirements that a batch read between two checks. */
export interface RetirementsRead {
  readonly retiredVersions: readonly RetiredVersion[];
}

/** Connections lead to another host of the address, because a standby was promoted. */
export interface DatabaseMoved {
  readonly databaseHost: string;
}

/** Answer to a check. */
export interface LedgerReport {
  /** Reason why the ledger is unusable; null if it works. */
  readonly failure: string | null;
  /** True if the address leads to another ledger than the one of this server. */
  readonly isForeign: boolean;
  /** True if another session locks the row of an account whose requests failed recently. */
  readonly accountLocked: boolean;
  /** Activated versions of the master secret that the keyring lacks; null if the ledger did not answer. */
  readonly lackedVersions: readonly number[] | null;
  /** Retired versions of the master secret; null if the ledger did not answer. */
  readonly retired: readonly RetiredVersion[] | null;
  /** True if the operator has issued API keys; false until the ledger has answered. */
  readonly ownApiKeys: boolean;
  /** As `LedgerStore.host`. */
  readonly host: string | null;
}

/** Sent with a check if the ledger answered. */
export interface ClockRead {
  readonly clock: ClockReading;
}

export interface WorkerUnable {
  readonly kind: 'unable';
  readonly message: string;
  /** True if the reason may pass by itself, as in `SetupError`. */
  readonly mayPass: boolean;
}

/** First message of the log worker, which has no generator. The statistics worker sends none if it can start. */
export type WorkerUp = { readonly kind: 'ready' } | WorkerUnable;

/** First message of a worker with a generator. */
export type WorkerReady =
  | {
      readonly kind: 'ready';
      readonly status: GeneratorStatus;
      /** Of the streams judged at startup. */
      readonly warnings: readonly EvidenceWarning[];
    }
  | WorkerUnable;

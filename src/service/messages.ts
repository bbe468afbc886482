/**
 * What crosses threads. Keys travel as transferred buffers, never as copies; the receiver owns and
 * wipes them.
 */
import type { Gate } from '#sp800-22';
import { AppError, type ErrorCode, stackFrames } from '../errors.ts';
import type { GeneratorStatus } from '../keys/generator.ts';
import type { FailedVerdict } from '../keys/latch.ts';
import type { GeneratedKey, GenerateOutcome, KeyOrder, KeyToRecord } from '../keys/order.ts';
import type { ValidateOutcome } from '../keys/validate.ts';
import type {
  AccountActivity,
  ClockReading,
  FailedRequest,
  PeriodSums,
  Principal,
  SeriesQuery,
  StreamCounts,
  Usage,
} from '../ledger/index.ts';
import type { Randomness, RandomnessQuery } from './randomness.ts';

/** Who asks, and when, for the counters. */
export interface Requester {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly atMs: number;
}

/** One piece of work for the key worker. */
export type KeyTask =
  /** Generate without evidence, and record. */
  | { readonly kind: 'generate'; readonly requester: Requester; readonly order: KeyOrder }
  /** Record a key that a suite worker generated; key and report stay on the main thread. */
  | {
      readonly kind: 'record';
      readonly requester: Requester;
      readonly order: KeyOrder;
      readonly generated: KeyToRecord;
      readonly counts: StreamCounts;
    }
  /** Validate a key (undefined when its format is invalid), and count. */
  | {
      readonly kind: 'validate';
      readonly requester: Requester;
      readonly key: Uint8Array | undefined;
      readonly proof: string | undefined;
    }
  /**
   * Gather evidence on the generator of plain keys: keys may be released then, or never. With `isLast` no key follows, and
   * those released are to be vouched for.
   */
  | { readonly kind: 'gather_evidence'; readonly isLast: boolean }
  /** Draw from the sources, so that one that failed can show that it works again. */
  | { readonly kind: 'probe' }
  /** Nothing to do: it takes along the failures that wait to be counted, and is done after them. */
  | { readonly kind: 'flush' }
  | {
      readonly kind: 'authenticate';
      readonly keyHashes: readonly Uint8Array[];
      readonly nowMs: number;
    };

export type KeyTaskResult =
  | GenerateOutcome
  | ValidateOutcome
  | { readonly kind: 'recorded'; readonly keyId: string; readonly usage: Usage }
  /** In the order of the hashes. */
  | { readonly kind: 'principals'; readonly principals: readonly (Principal | undefined)[] }
  | { readonly kind: 'probed' }
  | { readonly kind: 'flushed' }
  | { readonly kind: 'evidence_gathered' }
  /** Not done: it has to wait for a verdict on the generator of plain keys, and must be sent again. */
  | { readonly kind: 'evidence_pending' }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** An `AppError` as a message. */
export interface Failure {
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  /** For the log: what went wrong inside. It MUST NOT hold key bytes or request contents. */
  readonly reason: string;
}

export interface KeyBatch {
  readonly id: number;
  readonly tasks: readonly KeyTask[];
  readonly failures: readonly FailedRequest[];
}

export interface KeyBatchReply {
  readonly id: number;
  readonly results: readonly KeyTaskResult[];
  /** False when the batch's failures were not recorded and must be sent again. */
  readonly failuresRecorded: boolean;
  /** The batch's transaction; null when there was nothing to commit. */
  readonly commit: CommitTimes | null;
  readonly status: GeneratorStatus;
  /** Whether plain keys wait for a verdict. `VerdictNoted` follows then. */
  readonly awaitsVerdict: boolean;
}

/** When a transaction began and ended, on the monotonic clock that all threads share. */
export interface CommitTimes {
  readonly startMs: number;
  readonly endMs: number;
  /** Why it failed; null when it succeeded. */
  readonly failure: string | null;
  /** Keys that it recorded. */
  readonly keys: number;
}

/** The counts of a request for which no stream was judged. */
export const NO_STREAMS: StreamCounts = { streams: 0, streamsPassed: 0 };

/** What the main thread sends to the key worker: work, a verdict, a question about the ledger or the thread, or the end of either. */
export type KeyWorkerMessage =
  | KeyBatch
  | SampleVerdict
  | LedgerCondemned
  | 'check'
  | 'ping'
  | 'close';

/** A check has found the ledger damaged: nothing may be read from it or recorded in it any more. */
export interface LedgerCondemned {
  readonly damage: string;
}

/** What the key worker sends once it is ready. */
export type KeyWorkerReply =
  | KeyBatchReply
  | LedgerReport
  | ClockRead
  | RetirementsRead
  | EvidenceSample
  | VerdictNoted
  | FailureOfGate
  | UnvouchedKeys
  | Pong;

/** The answer to a ping: the event loop of the thread turns. */
export interface Pong {
  readonly pong: true;
}

/** A sample of a generator before modulation. It travels by transfer; the suite worker that judges it wipes it. */
export interface EvidenceSample {
  readonly sample: Uint8Array<ArrayBuffer>;
}

export interface SampleVerdict {
  readonly gate: Gate;
}

/** The key worker has taken note of a verdict. */
export interface VerdictNoted {
  readonly verdictNoted: true;
}

/** A sample failed the gate. */
export interface FailureOfGate {
  readonly failedVerdict: FailedVerdict;
}

/** After a latch: plain keys released that no good sample of their generator vouches for. */
export interface UnvouchedKeys {
  readonly unvouchedKeys: readonly string[];
  /** When the last sample was drawn that vouches for keys; null before the first. */
  readonly lastGoodMs: number | null;
}

/** A version of the master secret that an operator has retired. */
export interface RetiredVersion {
  readonly version: number;
  /** Rows count if they were made before this time; null: whenever they were made. */
  readonly compromisedMs: number | null;
  /** Whether this server makes keys under it. */
  readonly current: boolean;
}

/** Between two checks: what a batch has read of retirements, when it is not what was read before. */
export interface RetirementsRead {
  readonly retiredVersions: readonly RetiredVersion[];
}

/** The answer to a check. */
export interface LedgerReport {
  /** Why the ledger cannot be used; null when it can. */
  readonly failure: string | null;
  /** Whether others lock the row of an account whose requests failed not long ago. */
  readonly accountLocked: boolean;
  /** Activated versions of the master secret that the keyring lacks; null when nobody could tell. */
  readonly lackedVersions: readonly number[] | null;
  /** Retired versions of the master secret; null when the ledger could not be asked. */
  readonly retired: readonly RetiredVersion[] | null;
  /** Whether the operator has issued API keys; also false as long as the ledger could not be asked. */
  readonly ownApiKeys: boolean;
}

/** With a check, unless the ledger could not be asked. */
export interface ClockRead {
  readonly clock: ClockReading;
}

/** One piece of work for a suite worker, and its answer. */
export interface SuiteJob {
  readonly order: KeyOrder;
}

/** The answer to a probe. */
export interface SuiteProbeReply {
  readonly probed: GeneratorStatus;
}

export interface SuiteReply {
  readonly result:
    | { readonly kind: 'generated'; readonly generated: GeneratedKey }
    | { readonly kind: 'failed'; readonly failure: Failure };
  readonly counts: StreamCounts;
  /** Of these streams. */
  readonly failedVerdicts: readonly FailedVerdict[];
  /** How long the worker was at it. */
  readonly ms: number;
  readonly status: GeneratorStatus;
}

/** Whose sums, and since when, rounded down to a whole minute. */
export interface ActivityQuery {
  readonly accountId: string;
  readonly sinceMs: number;
}

/** One question to the statistics worker, and its answer. */
export type StatisticsTask =
  | { readonly kind: 'activity'; readonly query: ActivityQuery }
  | { readonly kind: 'series'; readonly query: SeriesQuery }
  | { readonly kind: 'randomness'; readonly query: RandomnessQuery };

export type StatisticsResult =
  | { readonly kind: 'activity'; readonly activity: AccountActivity }
  | { readonly kind: 'series'; readonly sums: readonly PeriodSums[] }
  | { readonly kind: 'randomness'; readonly randomness: Randomness }
  | { readonly kind: 'failed'; readonly failure: Failure };

export type StatisticsMessage = { readonly id: number; readonly task: StatisticsTask } | 'close';

export interface StatisticsReply {
  readonly id: number;
  readonly result: StatisticsResult;
}

interface WorkerUnable {
  readonly kind: 'unable';
  readonly message: string;
  /** Whether the reason may pass, as that of a `SetupError` does. */
  readonly mayPass: boolean;
}

/** The first message of the statistics worker, which has no generator. */
export type WorkerUp = { readonly kind: 'ready' } | WorkerUnable;

/** The first message of every other worker. */
export type WorkerReady =
  | {
      readonly kind: 'ready';
      readonly status: GeneratorStatus;
      /** Of the streams that were judged at the start. */
      readonly failedVerdicts: readonly FailedVerdict[];
    }
  | WorkerUnable;

/** Renders an error as a message: known errors keep their code, any other is internal. */
export function toFailure(error: unknown): Failure {
  const known = error instanceof AppError ? error : undefined;
  return {
    code: known?.code ?? 'internal_error',
    retryAfterSeconds: known?.details.retryAfterSeconds,
    reason: known ? describeKnown(known) : describeUnknown(error),
  };
}

/** The error that a failure in a worker is on the main thread. */
export function toError({ code, reason, retryAfterSeconds }: Failure): AppError {
  return new AppError(code, { reason, ...(retryAfterSeconds && { retryAfterSeconds }) });
}

/** Seconds a client should wait for a server whose database is sound: on this one an operator must restore a backup. */
const DAMAGED_RETRY_SECONDS = 5;

/** The refusal of all that needs the ledger once a check has found it damaged. */
export function damagedLedger(damage: string): AppError {
  return new AppError('ledger_unavailable', {
    cause: new Error(damage),
    retryAfterSeconds: DAMAGED_RETRY_SECONDS,
  });
}

/** An answer that is not one to the question: unknown state. */
export function unexpected(result: KeyTaskResult | StatisticsResult): Error {
  return new Error(`a worker answered with an unexpected ${result.kind}`);
}

function describeKnown({ code, details, cause }: AppError): string {
  const parts = [details.detail, cause instanceof Error ? cause.message : undefined];
  return parts.filter((part) => part !== undefined).join(': ') || code;
}

/** The class and place of an unexpected error, never its message: that could hold anything. */
function describeUnknown(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const [frame] = stackFrames(error);
  return `${error.name}${frame?.slice(3) ?? ''}`;
}

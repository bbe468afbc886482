/**
 * Measurements of the key service: durations, counts and results. None names an account, an API key or a key.
 */
import type { SealSuiteName } from '#sealing';
import type { KeyOrder } from '../keys/order.ts';
import type { ValidationVerdict } from '../keys/validate.ts';
import type { StreamCounts } from '../ledger/index.ts';

/**
 * Queues, in this order: for the key worker, for a suite worker, for batches in suite workers, for look-ups of API keys, for
 * an account's sums since a time, for other statistics of an account, for a copy in a box, for receipts and tiles of the log.
 */
export const QUEUE_NAMES = [
  'keys',
  'suite',
  'batches',
  'lookups',
  'activity',
  'statistics',
  'long_polls',
  'log',
] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** Receives measurements on the main thread. Its methods MUST NOT throw. */
export interface KeyObserver {
  /** A key was recorded and released, in plaintext or sealed. */
  keyGenerated(order: KeyOrder): void;
  /** A released key was sealed to a recipient. */
  keySealed(suite: SealSuiteName): void;
  /** A batch of so many keys was recorded and released. */
  batch(keys: number): void;
  /** A retry got the outcome of its first request: the stored response, or the IDs of its keys. */
  replayed(): void;
  keyValidated(verdict: ValidationVerdict): void;
  /** A request was answered `overloaded`. `ownShare`: the caller's own doing, by `isOwnShare`. */
  refused(queue: QueueName, ownShare: boolean): void;
  /** A piece of work has left its queue. */
  waited(queue: QueueName, ms: number): void;
  batchSent(tasks: number): void;
  /** A ledger transaction, measured in the key worker. */
  committed(ms: number, succeeded: boolean): void;
  /** A job of a suite worker, and the streams judged for it. */
  suiteJobDone(ms: number, counts: StreamCounts): void;
  /** A sample of the generator of plain keys passed or failed the gate. */
  plainEvidenceGathered(passed: boolean): void;
}

/** Stages of a request that the main thread can time. */
export type Stage = 'keys.wait' | 'keys.batch' | 'ledger.commit' | 'suite.wait' | 'suite.job';

/** Called when a request has passed a stage. Times are milliseconds of the monotonic clock. */
export type StageListener = (stage: Stage, startMs: number, endMs: number) => void;

/** Waiting work of a queue, and its limit. */
export interface QueueLoad {
  readonly name: QueueName;
  readonly waiting: number;
  readonly capacity: number;
}

/** Load of the service, read at a scrape. */
export interface ServiceLoad {
  readonly queues: readonly QueueLoad[];
  readonly generators: number;
  /** Reseeds of all DRBGs since startup. */
  readonly reseeds: number;
}

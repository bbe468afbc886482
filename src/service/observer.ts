/**
 * What the key service tells whoever measures it, in plain numbers: how long, how many, what became of
 * it. Nothing here names an account, an API key or a key.
 */
import type { KeyOrder } from '../keys/order.ts';
import type { ValidationVerdict } from '../keys/validate.ts';
import type { StreamCounts } from '../ledger/index.ts';

/**
 * Where requests wait: for the key worker, for a suite worker, for an API key to be looked up, for
 * an account's sums since a time, for other statistics of an account.
 */
export const QUEUE_NAMES = ['keys', 'suite', 'lookups', 'activity', 'statistics'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** Told on the main thread. Its methods MUST NOT throw. */
export interface KeyObserver {
  /** A key is recorded and on its way out. */
  keyGenerated(order: KeyOrder): void;
  keyValidated(verdict: ValidationVerdict): void;
  /** A request was answered `overloaded`. */
  refused(queue: QueueName): void;
  /** A piece of work has left its queue. */
  waited(queue: QueueName, ms: number): void;
  batchSent(tasks: number): void;
  /** A transaction of the ledger, as the key worker measured it. */
  committed(ms: number, succeeded: boolean): void;
  /** The work of a suite worker on one key, and the streams that it judged for it. */
  suiteJobDone(ms: number, counts: StreamCounts): void;
  /** A sample of the generator of plain keys passed the gate, or failed it. */
  plainEvidenceGathered(passed: boolean): void;
}

/** Parts of a request's way that the main thread can time. */
export type Stage = 'keys.wait' | 'keys.batch' | 'ledger.commit' | 'suite.wait' | 'suite.job';

/** Told when a request has passed a stage; times are of the monotonic clock, in milliseconds. */
export type StageListener = (stage: Stage, startMs: number, endMs: number) => void;

/** What waits in a queue, and how much may. */
export interface QueueLoad {
  readonly name: QueueName;
  readonly waiting: number;
  readonly capacity: number;
}

/** Work in hand, read at a scrape of Prometheus. */
export interface ServiceLoad {
  readonly queues: readonly QueueLoad[];
  readonly generators: number;
  /** Reseeds of all DRBGs since the start. */
  readonly reseeds: number;
}

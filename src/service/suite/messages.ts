/** Messages between the main thread and the suite workers. */

import type { SampleVerdict } from '../../keys/evidence-suite.ts';
import type { GeneratorStatus } from '../../keys/generator.ts';
import type { EvidenceWarning } from '../../keys/latch.ts';
import type { DeliveryNames, KeyOrder, Recipient, SealedResponseKey } from '../../keys/order.ts';
import type { EvidenceState } from '../../keys/plain-evidence.ts';
import type { StreamCounts } from '../../ledger/index.ts';
import type { Failure } from '../threads/failures.ts';
import type { EvidenceSample, Requester, UnvouchedKeys } from '../threads/messages.ts';
import type { PackedKeys } from '../threads/packed-keys.ts';
import type { PackedRows } from '../threads/packed-rows.ts';

/** One piece of work for a suite worker: one key, or some keys of a batch. */
export interface SuiteJob {
  readonly id: number;
  readonly requester: Requester;
  readonly order: KeyOrder;
  readonly count: number;
  /** None for keys in plaintext. */
  readonly recipients: readonly Recipient[];
  /** The deliveries of these keys; null without. */
  readonly delivery: DeliveryNames | null;
}

/** Jobs for a suite worker, one after the other: single sealed keys of several requests, or one other job. */
interface SuiteJobs {
  readonly jobs: readonly SuiteJob[];
}

/**
 * Messages from the main thread: jobs, the end of one, a sample of the key worker's generator, a probe, a question, the last
 * sample, or the end.
 */
export type SuiteMessage =
  | SuiteJobs
  | JobSettled
  | EvidenceSample
  | 'probe'
  | 'unvouched'
  | 'vouch'
  | 'close';

/** The keys of a job are in the ledger, or have been dropped. */
export interface JobSettled {
  readonly settled: number;
  readonly recorded: boolean;
}

/** Keys with their rows, in the same order. A request has `keys` or `sealed`. */
export interface MadeKeys {
  readonly rows: PackedRows;
  readonly keys: PackedKeys;
  readonly sealed: readonly SealedResponseKey[];
}

export type SuiteResult =
  | ({ readonly kind: 'made' } & MadeKeys)
  /** Nothing can be sealed to the public key of the recipient at this place. */
  | { readonly kind: 'invalid_public_key'; readonly index: number; readonly problem: string }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Verdicts of a worker on samples of its own generator of plain keys. */
export interface OwnVerdicts {
  /** Verdicts since the last message: true if passed. */
  readonly samples: readonly boolean[];
  readonly evidence: EvidenceState;
}

export interface SuiteReply extends OwnVerdicts {
  readonly jobId: number;
  readonly result: SuiteResult;
  readonly counts: StreamCounts;
  /** Working time in milliseconds. */
  readonly ms: number;
  readonly status: GeneratorStatus;
}

/** Answers to the jobs of a message, in their order. */
export interface SuiteReplies {
  readonly replies: readonly SuiteReply[];
}

/** Answer to a probe. */
interface SuiteProbeReply {
  readonly probed: GeneratorStatus;
}

/** Answer to `vouch`: the reason why no sample vouches for the last plain keys; null if one does. */
interface LastVouched {
  readonly unvouched: string | null;
}

/** Messages from a suite worker once it is ready. */
export type SuiteWorkerMessage =
  | SuiteReplies
  | { readonly verdicts: OwnVerdicts }
  | SampleVerdict
  | EvidenceWarning
  | SuiteProbeReply
  | UnvouchedKeys
  | LastVouched;

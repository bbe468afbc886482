/**
 * The work of one request for the suite workers. A batch is sent in jobs of some keys, which several workers do at the same
 * time. It holds the keys that are made until the request takes them, or wipes them.
 */

import type { Worker } from 'node:worker_threads';
import { instantNow, monotonicMs, systemClock } from '../../clock.ts';
import type { AppError } from '../../errors.ts';
import { wipeKey } from '../../keys/key-receipt.ts';
import type {
  DeliveryNames,
  KeyOrder,
  Recipient,
  ReleasedKey,
  SealedResponseKey,
  StreamTally,
} from '../../keys/order.ts';
import { type EvidenceState, mayRelease } from '../../keys/plain-evidence.ts';
import type { StreamCounts } from '../../ledger/index.ts';
import type { StageListener } from '../observer.ts';
import { toError } from '../threads/failures.ts';
import type { Requester } from '../threads/messages.ts';
import { unpackKeys } from '../threads/packed-keys.ts';
import type { PackedRows } from '../threads/packed-rows.ts';
import type { MadeKeys, SuiteJob, SuiteMessage, SuiteReply, SuiteResult } from './messages.ts';

/** Keys that a request needs from the suite workers. */
export interface KeyWork {
  readonly requester: Requester;
  readonly order: KeyOrder;
  /** None for keys in plaintext. */
  readonly recipients: readonly Recipient[];
  readonly delivery: DeliveryNames | null;
  readonly count: number;
  /** True for a batch, even of one key. */
  readonly isBatch: boolean;
}

/** A suite worker and its last answer. */
export interface Maker {
  readonly worker: Worker;
  /** The evidence on its generator of plain keys, as of its last message. */
  evidence: EvidenceState;
}

/** Result of a request's work, unless it failed. */
type SuiteOutcome =
  | ({ readonly kind: 'made' } & AllKeys)
  | Exclude<SuiteResult, { readonly kind: 'made' | 'failed' }>;

/** The keys of a request. The receiver MUST pass each of `keys` to `wipeKey`. */
export interface AllKeys {
  /** Rows of each job, for the key worker. */
  readonly rows: readonly PackedRows[];
  readonly keys: readonly ReleasedKey[];
  readonly sealed: readonly SealedResponseKey[];
}

interface Part {
  readonly jobId: number;
  readonly maker: Maker;
  /** Failed samples of the maker's generator before these keys, and up to the end of their job. */
  readonly failures: number;
  readonly made: Omit<AllKeys, 'rows'> & Pick<MadeKeys, 'rows'>;
}

export class SuiteWork {
  readonly request: KeyWork;
  readonly sinceMs: number = monotonicMs();
  /** Resolves with all keys, in the order of the jobs. Rejects with the error of the first job that failed. */
  readonly outcome: Promise<SuiteOutcome>;
  /** Returns true if the client has disconnected. */
  readonly abandoned: () => boolean;
  readonly #onStage: StageListener | undefined;
  readonly #settlers: PromiseWithResolvers<SuiteOutcome>;
  readonly #counts: StreamTally = { streams: 0, streamsPassed: 0 };
  readonly #parts: Part[] = [];
  #unsent: number;
  #madeKeys = 0;
  #firstSentMs: number | null = null;
  #isOver = false;
  #isRecorded = false;

  constructor(request: KeyWork, abandoned: () => boolean, onStage: StageListener | undefined) {
    this.request = request;
    this.abandoned = abandoned;
    this.#onStage = onStage;
    this.#unsent = request.count;
    this.#settlers = Promise.withResolvers();
    this.outcome = this.#settlers.promise;
    // The request waits for it later; until then a rejection is not unhandled.
    this.outcome.catch(() => {});
  }

  /** Streams judged so far, also if the work failed. */
  get counts(): StreamCounts {
    return this.#counts;
  }

  /** Keys that no worker has begun. */
  get unsentKeys(): number {
    return this.#isOver ? 0 : this.#unsent;
  }

  /** True once the outcome is known, or no caller waits for it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Takes the next job of at most `maxKeys` keys. */
  takeJob(id: number, maxKeys: number): SuiteJob {
    const { requester, order, recipients, delivery } = this.request;
    const count = Math.min(maxKeys, this.#unsent);
    const first = this.request.count - this.#unsent;
    this.#unsent -= count;
    this.#firstSentMs ??= monotonicMs();
    const ids = delivery?.ids.slice(first, first + count) ?? [];
    return { id, requester, order, count, recipients, delivery: delivery && { ...delivery, ids } };
  }

  /** Takes the answer to a job. Keys that come after the end are wiped. */
  add(
    jobId: number,
    maker: Maker,
    { result, counts, evidence }: Pick<SuiteReply, 'result' | 'counts' | 'evidence'>,
  ): void {
    this.#counts.streams += counts.streams;
    this.#counts.streamsPassed += counts.streamsPassed;
    if (result.kind === 'made') {
      const made = { ...result, keys: unpackKeys(result.keys) };
      this.#parts.push({ jobId, maker, failures: evidence.failures, made });
      if (this.#isOver) this.drop();
      else this.#noteMade(result.rows.count);
    } else if (result.kind === 'failed') {
      this.fail(toError(result.failure));
    } else {
      this.#end();
      this.#settlers.resolve(result);
      this.drop();
    }
  }

  /** Ends the work with an error, and wipes what is made. */
  fail(error: AppError): void {
    this.#end();
    this.#settlers.reject(error);
    this.drop();
  }

  /**
   * Reports whether the plain keys may be released now, by the evidence on the generators behind them, also after
   * `recorded`.
   */
  mayRelease(): boolean {
    if (this.request.order.withEvidence) return true;
    const now = instantNow(systemClock);
    return this.#parts.every(({ maker, failures }) => mayRelease(maker.evidence, failures, now));
  }

  /** Notes that the rows are durable, and gives the keys away: `drop` does not wipe them any more. */
  recorded(): void {
    this.#isRecorded = true;
    this.#settle(true);
  }

  /** Wipes the keys, now and as they come, because their rows are not in the ledger. Does nothing after `recorded`. */
  drop(): void {
    if (this.#isRecorded) return;
    this.#end();
    for (const { made } of this.#parts) for (const key of made.keys) wipeKey(key);
    this.#settle(false);
    this.#parts.length = 0;
  }

  #noteMade(keys: number): void {
    this.#madeKeys += keys;
    if (this.#madeKeys < this.request.count) return;
    this.#end();
    this.#parts.sort((one, other) => one.jobId - other.jobId);
    const parts = this.#parts.map(({ made }) => made);
    this.#settlers.resolve({
      kind: 'made',
      rows: parts.map(({ rows }) => rows),
      keys: parts.flatMap(({ keys }) => keys),
      sealed: parts.flatMap(({ sealed }) => sealed),
    });
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const sentMs = this.#firstSentMs;
    if (sentMs === null) return;
    this.#onStage?.('suite.wait', this.sinceMs, sentMs);
    this.#onStage?.('suite.job', sentMs, monotonicMs());
  }

  /** Tells the workers of plain keys which of them count as released. */
  #settle(recorded: boolean): void {
    if (this.request.order.withEvidence) return;
    for (const { jobId, maker } of this.#parts) {
      maker.worker.postMessage({ settled: jobId, recorded } satisfies SuiteMessage);
    }
  }
}

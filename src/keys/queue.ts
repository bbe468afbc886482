/**
 * The queue in front of the key worker: what waits while a commit is in flight goes into the next
 * batch, so that many requests share one transaction and one crossing of threads.
 */
import type { Worker } from 'node:worker_threads';
import { monotonicMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { FailedRequest } from '../ledger/index.ts';
import type { GeneratorStatus } from './generator.ts';
import type {
  KeyBatch,
  KeyBatchReply,
  KeyTask,
  KeyTaskResult,
  KeyWorkerReply,
} from './messages.ts';
import type { KeyObserver, StageListener } from './observer.ts';

/** Tasks that may wait. Beyond it the answer is `overloaded`: memory and waiting stay bounded. */
const MAX_WAITING = 8_192;

/** How long a task may wait to be sent. Nothing but a database that hangs holds the worker up so long. */
const MAX_WAIT_MS = 10_000;

/** Seconds a client should wait when the ledger hangs. */
const RETRY_AFTER_SECONDS = 5;

/** Tasks of one batch: bounds the time that a transaction holds the write lock. */
const MAX_BATCH = 1_024;

/** Batches under way: one in the worker, one on its doorstep, so that the worker never idles. */
const MAX_IN_FLIGHT = 2;

/** Failure records kept while the ledger cannot take them; older ones are dropped first. */
const MAX_FAILURES = 10_000;

interface Waiting {
  readonly task: KeyTask;
  readonly sinceMs: number;
  /** True when nobody waits for the result any more: a task not yet sent is then dropped. */
  readonly abandoned: () => boolean;
  readonly onStage: StageListener | undefined;
  readonly resolve: (result: KeyTaskResult) => void;
  readonly reject: (error: AppError) => void;
}

interface InFlight {
  readonly waiting: readonly Waiting[];
  readonly failures: readonly FailedRequest[];
  readonly sentMs: number;
}

export class KeyQueue {
  readonly #worker: Worker;
  readonly #onStatus: (status: GeneratorStatus) => void;
  readonly #observer: KeyObserver | undefined;
  #waiting: Waiting[] = [];
  #failures: FailedRequest[] = [];
  readonly #inFlight = new Map<number, InFlight>();
  #nextId = 1;
  #flushPlanned = false;
  #expiry: NodeJS.Timeout | null = null;

  constructor(worker: Worker, onStatus: (status: GeneratorStatus) => void, observer?: KeyObserver) {
    this.#worker = worker;
    this.#onStatus = onStatus;
    this.#observer = observer;
    worker.on('message', (message: KeyWorkerReply) => {
      if ('id' in message) this.#settle(message);
    });
  }

  /**
   * Resolves with the task's result. Rejects with `overloaded` when the queue is full, with
   * `ledger_unavailable` when the task has waited too long, and when it was abandoned.
   */
  async submit(
    task: KeyTask,
    abandoned = () => false,
    onStage?: StageListener,
  ): Promise<KeyTaskResult> {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#observer?.refused('keys');
      throw new AppError('overloaded', { retryAfterSeconds: 1 });
    }
    const sinceMs = monotonicMs();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, sinceMs, abandoned, onStage, resolve, reject });
      this.#planFlush();
      this.#planExpiry();
    });
  }

  /** Tasks that wait, and how many may. */
  get load(): { waiting: number; capacity: number } {
    return { waiting: this.#waiting.length, capacity: MAX_WAITING };
  }

  /** Has a failed request counted with the next commit. */
  recordFailure(failure: FailedRequest): void {
    this.#failures.push(failure);
    this.#boundFailures();
  }

  /** Has what is still to be counted committed, if the ledger takes it. */
  async flushFailures(): Promise<void> {
    if (this.#failures.length > 0) await this.submit({ kind: 'probe' });
  }

  /** Requests of one turn of the event loop travel together. */
  #planFlush(): void {
    if (this.#flushPlanned || this.#inFlight.size >= MAX_IN_FLIGHT) return;
    this.#flushPlanned = true;
    setImmediate(() => {
      this.#flushPlanned = false;
      this.#flush();
    });
  }

  /** One timer, for the task that has waited longest. */
  #planExpiry(): void {
    const [oldest] = this.#waiting;
    if (this.#expiry || !oldest) return;
    const expire = () => {
      this.#expiry = null;
      this.#expire();
      this.#planExpiry();
    };
    const restMs = Math.max(0, oldest.sinceMs + MAX_WAIT_MS - monotonicMs());
    this.#expiry = setTimeout(expire, restMs).unref();
  }

  #expire(): void {
    const endMs = monotonicMs() - MAX_WAIT_MS;
    const kept = this.#waiting.findIndex(({ sinceMs }) => sinceMs > endMs);
    const reason = `the ledger has taken nothing for ${MAX_WAIT_MS / 1000} s`;
    for (const { reject } of this.#waiting.splice(0, kept === -1 ? this.#waiting.length : kept)) {
      reject(
        new AppError('ledger_unavailable', { reason, retryAfterSeconds: RETRY_AFTER_SECONDS }),
      );
    }
  }

  #flush(): void {
    while (this.#waiting.length > 0 && this.#inFlight.size < MAX_IN_FLIGHT) this.#send();
  }

  #send(): void {
    const waiting = this.#waiting.splice(0, MAX_BATCH).filter(isWanted);
    if (waiting.length === 0) return;
    const failures = this.#failures;
    this.#failures = [];
    const id = this.#nextId++;
    const sentMs = monotonicMs();
    this.#inFlight.set(id, { waiting, failures, sentMs });
    this.#observer?.batchSent(waiting.length);
    for (const { sinceMs } of waiting) this.#observer?.waited('keys', sentMs - sinceMs);
    const batch: KeyBatch = { id, tasks: waiting.map(({ task }) => task), failures };
    this.#worker.postMessage(batch, transferList(batch.tasks));
  }

  #settle(reply: KeyBatchReply): void {
    const batch = this.#inFlight.get(reply.id);
    if (!batch)
      throw new Error(`the key worker answered batch ${reply.id}, which is not under way`);
    this.#inFlight.delete(reply.id);
    if (!reply.failuresRecorded) this.#failures = [...batch.failures, ...this.#failures];
    this.#boundFailures();
    this.#onStatus(reply.status);
    const { commit } = reply;
    if (commit) this.#observer?.committed(commit.endMs - commit.startMs, commit.succeeded);
    const nowMs = monotonicMs();
    batch.waiting.forEach(({ sinceMs, onStage, resolve }, i) => {
      onStage?.('keys.wait', sinceMs, batch.sentMs);
      onStage?.('keys.batch', batch.sentMs, nowMs);
      if (commit) onStage?.('ledger.commit', commit.startMs, commit.endMs);
      resolve(reply.results[i]);
    });
    this.#planFlush();
  }

  #boundFailures(): void {
    const excess = this.#failures.length - MAX_FAILURES;
    if (excess > 0) this.#failures.splice(0, excess);
  }
}

function isWanted({ abandoned, reject }: Waiting): boolean {
  if (!abandoned()) return true;
  reject(new AppError('request_timeout', { detail: 'The client has gone.' }));
  return false;
}

/** Keys to validate travel by transfer: no copy stays on the main thread. */
function transferList(tasks: readonly KeyTask[]): ArrayBuffer[] {
  return tasks.flatMap((task) =>
    task.kind === 'validate' && task.key ? [task.key.buffer as ArrayBuffer] : [],
  );
}

/**
 * The queue in front of the key worker: what waits while a commit is in flight goes into the next
 * batch, so that many requests share one transaction and one crossing of threads.
 */
import type { Worker } from 'node:worker_threads';
import { AppError } from '../errors.ts';
import type { FailedRequest } from '../ledger/index.ts';
import type { GeneratorStatus } from './generator.ts';
import type { KeyBatch, KeyBatchReply, KeyTask, KeyTaskResult, LedgerReport } from './messages.ts';

/** Tasks that may wait. Beyond it the answer is `overloaded`: memory and waiting stay bounded. */
const MAX_WAITING = 8_192;

/** Tasks of one batch: bounds the time that a transaction holds the write lock. */
const MAX_BATCH = 1_024;

/** Batches under way: one in the worker, one on its doorstep, so that the worker never idles. */
const MAX_IN_FLIGHT = 2;

/** Failure records kept while the ledger cannot take them; older ones are dropped first. */
const MAX_FAILURES = 10_000;

interface Waiting {
  readonly task: KeyTask;
  readonly resolve: (result: KeyTaskResult) => void;
}

interface InFlight {
  readonly waiting: readonly Waiting[];
  readonly failures: readonly FailedRequest[];
}

export class KeyQueue {
  readonly #worker: Worker;
  readonly #onStatus: (status: GeneratorStatus) => void;
  #waiting: Waiting[] = [];
  #failures: FailedRequest[] = [];
  readonly #inFlight = new Map<number, InFlight>();
  #nextId = 1;
  #flushPlanned = false;

  constructor(worker: Worker, onStatus: (status: GeneratorStatus) => void) {
    this.#worker = worker;
    this.#onStatus = onStatus;
    worker.on('message', (message: KeyBatchReply | LedgerReport) => {
      if ('id' in message) this.#settle(message);
    });
  }

  /** Resolves with the task's result. Rejects with `AppError('overloaded')` when the queue is full. */
  async submit(task: KeyTask): Promise<KeyTaskResult> {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new AppError('overloaded', { retryAfterSeconds: 1 });
    }
    return new Promise((resolve) => {
      this.#waiting.push({ task, resolve });
      this.#planFlush();
    });
  }

  /** Has a failed request counted with the next commit. */
  recordFailure(failure: FailedRequest): void {
    this.#failures.push(failure);
    if (this.#failures.length > MAX_FAILURES) this.#failures.shift();
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

  #flush(): void {
    while (this.#waiting.length > 0 && this.#inFlight.size < MAX_IN_FLIGHT) this.#send();
  }

  #send(): void {
    const waiting = this.#waiting.splice(0, MAX_BATCH);
    const failures = this.#failures;
    this.#failures = [];
    const id = this.#nextId++;
    this.#inFlight.set(id, { waiting, failures });
    const batch: KeyBatch = { id, tasks: waiting.map(({ task }) => task), failures };
    this.#worker.postMessage(batch, transferList(batch.tasks));
  }

  #settle(reply: KeyBatchReply): void {
    const batch = this.#inFlight.get(reply.id);
    if (!batch)
      throw new Error(`the key worker answered batch ${reply.id}, which is not under way`);
    this.#inFlight.delete(reply.id);
    if (!reply.failuresRecorded) this.#failures.unshift(...batch.failures);
    this.#onStatus(reply.status);
    batch.waiting.forEach(({ resolve }, i) => {
      resolve(reply.results[i]);
    });
    this.#planFlush();
  }
}

/** Keys to validate travel by transfer: no copy stays on the main thread. */
function transferList(tasks: readonly KeyTask[]): ArrayBuffer[] {
  return tasks.flatMap((task) =>
    task.kind === 'validate' && task.key ? [task.key.buffer as ArrayBuffer] : [],
  );
}

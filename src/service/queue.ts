/**
 * The queue in front of the key worker: what waits while a commit is in flight goes into the next
 * batch, so that many requests share one transaction and one crossing of threads.
 *
 * A plain key may have to wait until its generator is judged. Its task comes back unmade then, and is held here until
 * the verdict comes. So neither a batch nor another request waits with it, and no key bytes wait in memory.
 */
import type { Worker } from 'node:worker_threads';
import { monotonicMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { GeneratorStatus } from '../keys/generator.ts';
import type { FailedRequest } from '../ledger/index.ts';
import type {
  KeyBatch,
  KeyBatchReply,
  KeyTask,
  KeyTaskResult,
  KeyWorkerReply,
} from './messages.ts';
import type { KeyObserver, StageListener } from './observer.ts';
import { suiteLateError } from './suite-limit.ts';

/** Tasks that may wait. Beyond it the answer is `overloaded`: memory and waiting stay bounded. */
const MAX_WAITING = 8_192;

/** Of these, tasks that may wait for a verdict: plain keys must not take all places. */
const MAX_HELD = MAX_WAITING / 2;

/** How long a task may wait. */
const MAX_WAIT_MS = 10_000;

/** Seconds a client should wait when the ledger hangs. */
const RETRY_AFTER_SECONDS = 5;

/** Tasks of one batch: bounds the time that a transaction holds the write lock. */
const MAX_BATCH = 1_024;

/** Batches under way: one in the worker, one on its doorstep, so that the worker never idles. */
const MAX_IN_FLIGHT = 2;

/** Failure records kept while the ledger cannot take them; older ones are dropped first. */
const MAX_FAILURES = 10_000;

/** What became of a task in the end. */
export type SettledResult = Exclude<KeyTaskResult, { kind: 'evidence_pending' }>;

interface Waiting {
  readonly task: KeyTask;
  readonly sinceMs: number;
  /** True when nobody waits for the result any more: a task not yet sent is then dropped. */
  readonly abandoned: () => boolean;
  readonly onStage: StageListener | undefined;
  readonly resolve: (result: SettledResult) => void;
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
  /** Came back unmade, and wait for a verdict on the generator of plain keys. */
  #held: Waiting[] = [];
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
      else if ('verdictNoted' in message) this.resume();
    });
  }

  /**
   * Resolves with the task's result. Rejects with `overloaded` when the queue is full, with
   * `ledger_unavailable` when the task has waited too long, with `entropy_unavailable` when it has waited
   * too long for a verdict, and when it was abandoned.
   */
  async submit(
    task: KeyTask,
    abandoned = () => false,
    onStage?: StageListener,
  ): Promise<SettledResult> {
    if (this.load.waiting >= MAX_WAITING) throw this.#overloaded();
    const sinceMs = monotonicMs();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, sinceMs, abandoned, onStage, resolve, reject });
      this.#planFlush();
      this.#planExpiry();
    });
  }

  /** Tasks that wait, and how many may. */
  get load(): { waiting: number; capacity: number } {
    return { waiting: this.#waiting.length + this.#held.length, capacity: MAX_WAITING };
  }

  /** The batches under way, by their numbers, oldest first. */
  get batches(): readonly number[] {
    return [...this.#inFlight.keys()];
  }

  /** Sends the tasks again that wait for a verdict: it has come, or the process has latched. */
  resume(): void {
    this.#waiting = [...this.#held, ...this.#waiting];
    this.#held = [];
    this.#planFlush();
  }

  /** Has a failed request counted with the next commit. */
  recordFailure(failure: FailedRequest): void {
    this.#failures.push(failure);
    this.#boundFailures();
  }

  /**
   * Resolves once every failure noted before is counted, if the ledger takes it: batches are committed in their order.
   * Without such a failure nothing is sent.
   */
  async flushFailures(): Promise<void> {
    const isPending =
      this.#failures.length > 0 ||
      [...this.#inFlight.values()].some(({ failures }) => failures.length > 0);
    if (isPending) await this.submit({ kind: 'flush' });
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
    if (this.#expiry || this.load.waiting === 0) return;
    const heads = [...this.#waiting.slice(0, 1), ...this.#held.slice(0, 1)];
    const oldestMs = Math.min(...heads.map(({ sinceMs }) => sinceMs));
    const expire = () => {
      this.#expiry = null;
      this.#expire();
      this.#planExpiry();
    };
    const restMs = Math.max(0, oldestMs + MAX_WAIT_MS - monotonicMs());
    this.#expiry = setTimeout(expire, restMs).unref();
  }

  #expire(): void {
    const endMs = monotonicMs() - MAX_WAIT_MS;
    // A verdict holds up no batch. So what was not sent waits for the database.
    rejectOld(this.#waiting, endMs, workerStalled);
    rejectOld(this.#held, endMs, suiteLateError);
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
    if (commit) this.#observer?.committed(commit.endMs - commit.startMs, commit.failure === null);
    const nowMs = monotonicMs();
    const unmade: Waiting[] = [];
    batch.waiting.forEach((one, i) => {
      const result = reply.results[i];
      if (result.kind === 'evidence_pending') {
        unmade.push(one);
        return;
      }
      const { sinceMs, onStage, resolve } = one;
      onStage?.('keys.wait', sinceMs, batch.sentMs);
      onStage?.('keys.batch', batch.sentMs, nowMs);
      if (commit) onStage?.('ledger.commit', commit.startMs, commit.endMs);
      resolve(result);
    });
    this.#putBack(unmade, reply.awaitsVerdict);
    this.#planFlush();
  }

  /** Before all that came later. Without a verdict to come, they are sent again at once. */
  #putBack(unmade: readonly Waiting[], awaitsVerdict: boolean): void {
    if (!awaitsVerdict) {
      this.#waiting = [...unmade, ...this.#waiting];
    } else {
      const room = Math.max(0, MAX_HELD - this.#held.length);
      this.#held.push(...unmade.slice(0, room));
      for (const { reject } of unmade.slice(room)) reject(this.#overloaded());
    }
    this.#planExpiry();
  }

  #overloaded(): AppError {
    this.#observer?.refused('keys');
    return new AppError('overloaded', { retryAfterSeconds: 1 });
  }

  #boundFailures(): void {
    const excess = this.#failures.length - MAX_FAILURES;
    if (excess > 0) this.#failures.splice(0, excess);
  }
}

/** Rejects the tasks at the head that have waited since `endMs` or longer. */
function rejectOld(tasks: Waiting[], endMs: number, error: () => AppError): void {
  const kept = tasks.findIndex(({ sinceMs }) => sinceMs > endMs);
  for (const { reject } of tasks.splice(0, kept === -1 ? tasks.length : kept)) reject(error());
}

function workerStalled(): AppError {
  const reason = `the key worker has taken nothing for ${MAX_WAIT_MS / 1000} s`;
  return new AppError('ledger_unavailable', { reason, retryAfterSeconds: RETRY_AFTER_SECONDS });
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

/**
 * The queue in front of the key worker. Tasks that arrive during a commit form the next batch, so that many requests
 * share one transaction and one message between threads.
 *
 * A plain key may have to wait until its generator is judged. The key worker then returns the task without a key, and
 * the queue holds it until the verdict comes. No batch and no other request waits for the verdict, and no key bytes stay
 * in memory. The tasks of an account that another session keeps locked come back, too, and are sent again after a pause.
 */
import type { Worker } from 'node:worker_threads';
import { monotonicMs } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { GeneratorStatus } from '../../keys/generator.ts';
import type { FailedRequest } from '../../ledger/index.ts';
import type { KeyObserver, StageListener } from '../observer.ts';
import { suiteLateError } from '../suite/limit.ts';
import type {
  KeyBatch,
  KeyBatchReply,
  KeyTask,
  KeyTaskResult,
  KeyWorkerReply,
} from '../threads/messages.ts';
import { packBatch, unpackReply } from '../threads/packed-batches.ts';
import { rowCount } from '../threads/packed-rows.ts';

/** Limit of waiting tasks, which bounds memory and waiting time. Beyond it the answer is `overloaded`. */
const MAX_WAITING = 8_192;

/** How many of these may wait for a verdict, so that plain keys cannot take all places. */
const MAX_HELD = MAX_WAITING / 2;

/** Longest waiting time of a task. */
const MAX_WAIT_MS = 10_000;

/** Seconds after which a client should retry when the ledger hangs. */
const RETRY_AFTER_SECONDS = 5;

/** Pause before a task of a locked account is sent again, and the longest time that such a task waits in all. */
const LOCK_PAUSE_MS = 200;
const MAX_LOCK_WAIT_MS = 4_000;

/** How many tasks may wait for locked accounts. Each attempt makes their keys anew. */
const MAX_LOCKED = 256;

/**
 * Rows in one batch: of tasks with one row at most, and as many of tasks with more. So the keys of a batch request, which
 * share one task, do not delay the others by another transaction. Bounds the time that a transaction holds the write lock.
 */
const MAX_BATCH = 1_024;

/** Limit of waiting rows of tasks with more than one row. They take no places of the other tasks. */
const MAX_WAITING_ROWS = 32 * MAX_BATCH;

/** Batches in progress: one in the worker and one ready for it, so that the worker never idles. */
const MAX_IN_FLIGHT = 2;

/**
 * Open tasks from which on a batch takes half of them. The transaction of a batch costs as much time as about fifteen
 * keys, so smaller halves save nothing.
 */
const MIN_SPLIT = 16;

/** Failure records kept while the ledger is unavailable. The oldest are dropped first. */
const MAX_FAILURES = 10_000;

/** Final result of a task. */
export type SettledResult = Exclude<
  KeyTaskResult,
  { kind: 'evidence_pending' } | { kind: 'account_locked' }
>;

interface Waiting {
  readonly task: KeyTask;
  readonly sinceMs: number;
  /** Returns true if the client has disconnected. A task that is not yet sent is then dropped. */
  readonly abandoned: () => boolean;
  readonly onStage: StageListener | undefined;
  readonly resolve: (result: SettledResult) => void;
  readonly reject: (error: AppError) => void;
}

interface InFlight {
  readonly id: number;
  readonly waiting: readonly Waiting[];
  readonly failures: readonly FailedRequest[];
  readonly sentMs: number;
}

export class KeyQueue {
  readonly #worker: Worker;
  readonly #onStatus: (status: GeneratorStatus) => void;
  readonly #observer: KeyObserver | undefined;
  #waiting: Waiting[] = [];
  /** Tasks returned without a key, which wait for a verdict on the generator of plain keys. */
  #held: Waiting[] = [];
  /** Tasks returned because their account was locked, which are sent again after a pause. */
  #locked: Waiting[] = [];
  #failures: FailedRequest[] = [];
  /** Set at the end, so that no later batch waits for a database that refused them. */
  #failuresEnded = false;
  /**
   * Not a Map: its outgrown tables hold their entries and the next table. Once the collector has promoted one, all later
   * requests would be promoted too, and live until a full collection.
   */
  #inFlight: readonly InFlight[] = [];
  #nextId = 1;
  #flushPlanned = false;
  #expiry: NodeJS.Timeout | null = null;

  constructor(worker: Worker, onStatus: (status: GeneratorStatus) => void, observer?: KeyObserver) {
    this.#worker = worker;
    this.#onStatus = onStatus;
    this.#observer = observer;
    worker.on('message', (message: KeyWorkerReply) => {
      if ('id' in message) this.#settle(unpackReply(message));
      else if ('verdictNoted' in message) this.resume();
    });
  }

  /**
   * Resolves with the task's result. Rejects with `overloaded` if the queue is full, with `ledger_unavailable` if the
   * task waited too long, also for a locked account, with `entropy_unavailable` if it waited too long for a verdict, and with `request_timeout` if
   * its client has disconnected.
   */
  submit(task: KeyTask, abandoned = () => false, onStage?: StageListener): Promise<SettledResult> {
    if (!this.#hasRoom(task)) return Promise.reject(this.#overloaded());
    const sinceMs = monotonicMs();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, sinceMs, abandoned, onStage, resolve, reject });
      this.#planFlush();
      this.#planExpiry();
    });
  }

  /** Waiting tasks and their limit. */
  get load(): { waiting: number; capacity: number } {
    const waiting = this.#waiting.length + this.#held.length + this.#locked.length;
    return { waiting, capacity: MAX_WAITING };
  }

  /** Numbers of the batches in progress, oldest first. */
  get batches(): readonly number[] {
    return this.#inFlight.map(({ id }) => id);
  }

  /** Resends the tasks that wait for a verdict, because it has come or the process has latched. */
  resume(): void {
    this.#waiting = [...this.#held, ...this.#waiting];
    this.#held = [];
    this.#planFlush();
  }

  /** Counts a failed request with the next commit. */
  recordFailure(failure: FailedRequest): void {
    this.#failures.push(failure);
    this.#boundFailures();
  }

  /**
   * Commits pending failure counts if the ledger is available. Batches are committed in order. Without pending counts
   * nothing is sent.
   */
  async flushFailures(): Promise<void> {
    if (this.#hasFailures) await this.submit({ kind: 'flush' });
  }

  /**
   * Ends the count of failures: commits those that wait, if `mayWrite`, and tries it once. Resolves with false if any are
   * lost. Never rejects.
   */
  async endFailures(mayWrite: boolean): Promise<boolean> {
    if (mayWrite) await this.flushFailures().catch(() => {});
    const isPending = this.#hasFailures;
    this.#failuresEnded = true;
    this.#failures = [];
    return !isPending;
  }

  get #hasFailures(): boolean {
    return this.#failures.length > 0 || this.#inFlight.some(({ failures }) => failures.length > 0);
  }

  /** Sends the requests of one turn of the event loop together. */
  #planFlush(): void {
    if (this.#flushPlanned || this.#inFlight.length >= MAX_IN_FLIGHT) return;
    this.#flushPlanned = true;
    setImmediate(() => {
      this.#flushPlanned = false;
      this.#flush();
    });
  }

  /** Sets one timer, for the task that has waited longest. */
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
    // Tasks that wait for a verdict never delay a batch, so an unsent task can only be waiting for the database.
    rejectOld(this.#waiting, endMs, workerStalled);
    rejectOld(this.#held, endMs, suiteLateError);
  }

  /**
   * Sends batches of half of the open tasks: those that wait and those in progress. So the main thread answers one half
   * while the worker makes the other. In one batch of all, each thread would wait for the other; and many small batches
   * would cost a transaction each, so a second batch waits for its half.
   */
  #flush(): void {
    while (this.#waiting.length > 0 && this.#inFlight.length < MAX_IN_FLIGHT) {
      const open = this.#waiting.length + this.#sentTasks();
      if (this.#inFlight.length > 0 && this.#waiting.length < Math.floor(open / 2)) return;
      this.#send(open < MIN_SPLIT ? MAX_BATCH : Math.min(MAX_BATCH, Math.ceil(open / 2)));
    }
  }

  /** Returns the number of tasks in progress. */
  #sentTasks(): number {
    let sent = 0;
    for (const { waiting } of this.#inFlight) sent += waiting.length;
    return sent;
  }

  /** Sends the next batch, with at most `limit` tasks of one row. */
  #send(limit: number): void {
    const waiting = this.#takeBatch(limit).filter(isWanted);
    if (waiting.length === 0) return;
    const failures = this.#failures;
    this.#failures = [];
    const id = this.#nextId++;
    const sentMs = monotonicMs();
    this.#inFlight = [...this.#inFlight, { id, waiting, failures, sentMs }];
    this.#observer?.batchSent(waiting.length);
    for (const { sinceMs } of waiting) this.#observer?.waited('keys', sentMs - sinceMs);
    const batch: KeyBatch = { id, tasks: waiting.map(({ task }) => task), failures };
    this.#worker.postMessage(packBatch(batch), transferList(batch.tasks));
  }

  /** Takes the next tasks from the queue, in order. */
  #takeBatch(limit: number): Waiting[] {
    const left = { single: limit, several: MAX_BATCH };
    const taken: Waiting[] = [];
    const kept: Waiting[] = [];
    for (const one of this.#waiting) {
      const rows = rowsOf(one.task);
      const lane = rows > 1 ? 'several' : 'single';
      if (left[lane] >= rows) taken.push(one);
      else kept.push(one);
      // A task that does not fit lets none of its kind pass.
      left[lane] = left[lane] >= rows ? left[lane] - rows : 0;
    }
    this.#waiting = kept;
    return taken;
  }

  #settle(reply: KeyBatchReply): void {
    const batch = this.#inFlight.find(({ id }) => id === reply.id);
    if (!batch)
      throw new Error(`the key worker answered batch ${reply.id}, which is not in progress`);
    this.#inFlight = this.#inFlight.filter((one) => one !== batch);
    if (!reply.failuresRecorded) this.#returnFailures(batch.failures);
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
      if (result.kind === 'account_locked') {
        this.#holdLocked({ ...one, task: result.again ?? one.task }, nowMs);
        return;
      }
      const { sinceMs, onStage, resolve } = one;
      onStage?.('keys.wait', sinceMs, batch.sentMs);
      onStage?.('keys.batch', batch.sentMs, nowMs);
      if (commit) onStage?.('ledger.commit', commit.startMs, commit.endMs);
      resolve(result);
    });
    this.#putBack(unmade, reply.awaitsVerdict);
    // Before the answers, whose promises run after this function: the worker has its next batch meanwhile.
    this.#flush();
  }

  /** Puts returned tasks before all later ones. If no verdict is pending, they are sent again at once. */
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

  /** Sends the task again after a pause, before all later ones, unless it has waited too long. */
  #holdLocked(one: Waiting, nowMs: number): void {
    if (nowMs - one.sinceMs >= MAX_LOCK_WAIT_MS || this.#locked.length >= MAX_LOCKED) {
      one.reject(accountLocked());
      return;
    }
    if (this.#locked.length === 0) {
      setTimeout(() => {
        this.#waiting = [...this.#locked, ...this.#waiting];
        this.#locked = [];
        this.#planFlush();
        this.#planExpiry();
      }, LOCK_PAUSE_MS).unref();
    }
    this.#locked.push(one);
  }

  #hasRoom(task: KeyTask): boolean {
    const rows = rowsOf(task);
    if (rows <= 1) return this.load.waiting < MAX_WAITING;
    return this.#waitingRows() + rows <= MAX_WAITING_ROWS;
  }

  /** Rows of waiting tasks with more than one row. */
  #waitingRows(): number {
    return this.#waiting.reduce((sum, { task }) => sum + (rowsOf(task) > 1 ? rowsOf(task) : 0), 0);
  }

  #overloaded(): AppError {
    this.#observer?.refused('keys', false);
    return new AppError('overloaded', { retryAfterSeconds: 1 });
  }

  #returnFailures(failures: readonly FailedRequest[]): void {
    if (this.#failuresEnded) return;
    this.#failures = [...failures, ...this.#failures];
    this.#boundFailures();
  }

  #boundFailures(): void {
    const excess = this.#failures.length - MAX_FAILURES;
    if (excess > 0) this.#failures.splice(0, excess);
  }
}

/** Returns the rows that a task writes, of keys or of copies in boxes; 1 for a task that writes none. */
function rowsOf(task: KeyTask): number {
  if (task.kind === 'take_copies') return task.order.deliveryIds.length;
  return task.kind === 'record' ? rowCount(task.rows) : 1;
}

/** Rejects the tasks at the head of the queue that have waited since `endMs` or longer. */
function rejectOld(tasks: Waiting[], endMs: number, error: () => AppError): void {
  const kept = tasks.findIndex(({ sinceMs }) => sinceMs > endMs);
  for (const { reject } of tasks.splice(0, kept === -1 ? tasks.length : kept)) reject(error());
}

function workerStalled(): AppError {
  const reason = `the key worker has accepted no work for ${MAX_WAIT_MS / 1000} s`;
  return new AppError('ledger_unavailable', { reason, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function accountLocked(): AppError {
  const reason = 'another session locks a row of the account';
  return new AppError('ledger_unavailable', { reason, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function isWanted({ abandoned, reject }: Waiting): boolean {
  if (!abandoned()) return true;
  reject(new AppError('request_timeout', { detail: 'The client has disconnected.' }));
  return false;
}

/** Returns the buffers of keys to validate. They are transferred, so that no copy stays on the main thread. */
function transferList(tasks: readonly KeyTask[]): ArrayBuffer[] {
  return tasks.flatMap((task) =>
    task.kind === 'validate' && task.key ? [task.key.buffer as ArrayBuffer] : [],
  );
}

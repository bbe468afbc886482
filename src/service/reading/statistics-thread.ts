/** The main thread's end of the statistics worker, which starts for a query and ends when none comes for a while. */

import type { Worker } from 'node:worker_threads';
import { endThread } from '#platform/threads';
import { SECOND_MS } from '../../clock.ts';
import { changedProgram } from '../../process/version.ts';
import { reportEnd } from '../threads/ready-worker.ts';
import type {
  StatisticsMessage,
  StatisticsOutput,
  StatisticsResult,
  StatisticsTask,
} from '../threads/statistics-messages.ts';

/** Longest wait for an answer. A database that answers at all gives each statement less time. */
const QUERY_LIMIT_MS = 30_000;

/**
 * Time without a query after which the thread ends. Well above the one or two minutes between two questions for the size of
 * PostgreSQL's database, so that a thread that is asked for nothing else does not start each time.
 */
const REST_MS = 300_000;

/** Time for a thread that rests to close the ledger. */
const CLOSE_LIMIT_MS = 2_000;

const RETRY_AFTER_SECONDS = 5;

/** Time in which no further start is tried after a failed one: each takes a fifth of a second of a core. */
const PAUSE_SECONDS = 60;

interface StatisticsThreadOptions {
  /** Starts the thread. What it throws fails the query. */
  readonly start: () => Worker;
  /** Called when the thread has died after an answer: the state is unknown then. */
  readonly onFatal: (error: Error) => void;
}

interface Asked {
  /** Called when the query has its answer, or can get none. */
  readonly onEnd: () => void;
  readonly resolve: (result: StatisticsResult) => void;
}

export class StatisticsThread {
  readonly #start: () => Worker;
  readonly #onFatal: (error: Error) => void;
  readonly #asked = new Map<number, Asked>();
  /** Null while nothing is asked. */
  #worker: Worker | null = null;
  #nextId = 1;
  #rest: NodeJS.Timeout | undefined;
  /** The end of the thread before. */
  #resting: Promise<void> = Promise.resolve();
  #hasEnded = false;
  /** Why the last start failed, until the next one is tried. */
  #failure: StatisticsResult | null = null;

  constructor({ start, onFatal }: StatisticsThreadOptions) {
    this.#start = start;
    this.#onFatal = onFatal;
  }

  /**
   * Asks the thread, and starts it if it does not run. `onEnd` is called once with the answer, also if that is later than
   * this promise waits.
   */
  ask(task: StatisticsTask, onEnd: () => void = () => {}): Promise<StatisticsResult> {
    clearTimeout(this.#rest);
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const late = () => resolve(failed(`has not answered for ${QUERY_LIMIT_MS / 1_000} s`));
      const timer = setTimeout(late, QUERY_LIMIT_MS).unref();
      const answer = (result: StatisticsResult) => {
        clearTimeout(timer);
        resolve(result);
      };
      this.#asked.set(id, { onEnd, resolve: answer });
      this.#send({ id, task });
    });
  }

  /** Ends the thread after the queries in progress, at the latest after `limitMs`. Later queries fail. */
  async end(limitMs: number): Promise<void> {
    this.#hasEnded = true;
    clearTimeout(this.#rest);
    const worker = this.#worker;
    this.#worker = null;
    await Promise.all([this.#resting, worker && endThread(worker, limitMs)]);
    this.#failAll(failed('has ended'));
  }

  #send(message: StatisticsMessage & object): void {
    const refusal = this.#hasEnded ? failed('has ended') : this.#failure;
    if (refusal) {
      this.#settle(message.id, refusal);
      return;
    }
    try {
      this.#worker ??= this.#started();
    } catch (error) {
      this.#failStart(nameOf(error));
      return;
    }
    this.#worker.postMessage(message);
  }

  #started(): Worker {
    const worker = this.#start();
    let hasAnswered = false;
    const isCurrent = () => this.#worker === worker;
    const onDeath = (error: Error) => {
      // One that rests, or was refused, is no longer asked.
      if (!isCurrent()) return;
      if (!hasAnswered) {
        // It writes nothing. What keeps it from starting may pass, and keys do not need it.
        this.#failStart(nameOf(error));
        return;
      }
      this.#worker = null;
      this.#failAll(failed('has died'));
      this.#onFatal(error);
    };
    worker.on('message', (message: StatisticsOutput) => {
      if ('kind' in message) {
        if (isCurrent()) this.#failStart(message.message);
        return;
      }
      hasAnswered = true;
      this.#settle(message.id, message.result);
      if (this.#asked.size === 0 && isCurrent()) {
        this.#rest = setTimeout(() => this.#end(worker), REST_MS).unref();
      }
    });
    reportEnd(worker, onDeath, () => !isCurrent());
    return worker;
  }

  /** Fails all queries, and those of the next minute. */
  #failStart(reason: string): void {
    this.#worker = null;
    const failure = failed(`cannot start: ${changedProgram() ?? reason}`, PAUSE_SECONDS);
    this.#failure = failure;
    setTimeout(() => {
      this.#failure = null;
    }, PAUSE_SECONDS * SECOND_MS).unref();
    this.#failAll(failure);
  }

  /** Ends the thread that has nothing to do. The next query starts another one. */
  #end(worker: Worker): void {
    this.#worker = null;
    this.#resting = endThread(worker, CLOSE_LIMIT_MS);
  }

  #settle(id: number, result: StatisticsResult): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    asked?.onEnd();
    asked?.resolve(result);
  }

  #failAll(failure: StatisticsResult): void {
    for (const id of [...this.#asked.keys()]) this.#settle(id, failure);
  }
}

function failed(what: string, retryAfterSeconds = RETRY_AFTER_SECONDS): StatisticsResult {
  return {
    kind: 'failed',
    failure: {
      code: 'ledger_unavailable',
      retryAfterSeconds,
      remedy: 'The records of the past cannot be read at present. Try again in {wait}.',
      reason: `the statistics worker ${what}`,
    },
  };
}

/** Returns the code of an error, or its name. Its text could hold anything. */
function nameOf(error: unknown): string {
  const { code, name } = error as Partial<NodeJS.ErrnoException>;
  return code ?? name ?? typeof error;
}

/** The workers of an assessment. Each starts when there is work for it, and gets the kernels from this thread. */

import type { SuiteReport } from '../../../sp800-22/src/index.ts';
import { kernelModule } from '../../../sp800-22/src/index.ts';
import { platform, type SuiteWorker } from '../platform.ts';
import { type Answer, type Job, work } from './worker.ts';

interface Waiting {
  readonly job: Job;
  readonly resolve: (report: SuiteReport) => void;
  readonly reject: (error: Error) => void;
}

/** Milliseconds for which a pool without workers keeps its thread. */
const TURN_MS = 50;

/** A timer of Node waits a millisecond at least, an immediate only for its turn. Browsers have no immediates. */
const { setTimeout, setImmediate = setTimeout } = globalThis as unknown as {
  setTimeout(work: () => void): unknown;
  setImmediate?(work: () => void): unknown;
};

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class SuitePool {
  readonly #size: number;
  readonly #start: () => SuiteWorker;
  readonly #workers: SuiteWorker[] = [];
  readonly #idle: SuiteWorker[] = [];
  readonly #waiting: Waiting[] = [];
  #closed = false;
  /** When this thread last handled other events. */
  #turnedMs = Date.now();

  /** The kernels MUST be loaded. */
  constructor(size: number, createWorker?: () => SuiteWorker) {
    this.#size = size;
    this.#start = createWorker ?? platform().startWorker;
  }

  /** Moves the sequence to a worker, which wipes it. Rejects if the worker fails; the caller then closes the pool. */
  run(job: Job): Promise<SuiteReport> {
    // A read in progress may still arrive.
    if (this.#closed) {
      job.sequence.bytes.fill(0);
      return Promise.reject(new Error('closed'));
    }
    if (this.#size === 0) return this.#runHere(job);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#dispatch();
    });
  }

  /** Lets the caller's thread handle what came meanwhile, such as a cancellation, every 50 ms. */
  async #runHere(job: Job): Promise<SuiteReport> {
    if (Date.now() - this.#turnedMs >= TURN_MS) {
      await nextTurn();
      this.#turnedMs = Date.now();
    }
    return reportOf(work(job));
  }

  /** Ends the workers. Waiting work is wiped; it and work in progress never settle. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { job } of this.#waiting.splice(0)) job.sequence.bytes.fill(0);
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#idle.pop() ?? this.#startOne();
      const next = worker && this.#waiting.shift();
      if (!next) return;
      this.#give(worker, next);
    }
  }

  #startOne(): SuiteWorker | undefined {
    if (this.#workers.length === this.#size) return undefined;
    const worker = this.#start();
    this.#workers.push(worker);
    worker.postMessage({ kernels: kernelModule() }, []);
    return worker;
  }

  #give(worker: SuiteWorker, { job, resolve, reject }: Waiting): void {
    worker.onerror = ({ message }) => reject(new Error(message ?? 'the worker could not start'));
    worker.onmessage = ({ data }) => {
      try {
        resolve(reportOf(data as Answer));
      } catch (error) {
        reject(error as Error);
      }
      this.#idle.push(worker);
      this.#dispatch();
    };
    worker.postMessage(job, [job.sequence.bytes.buffer]);
  }
}

function reportOf(answer: Answer): SuiteReport {
  if ('error' in answer) throw new Error(answer.error);
  return answer.report;
}

/** The workers of an assessment. Each starts when there is work for it, and gets the kernels from this thread. */

import { described } from '../../../sp800-22/src/arguments.ts';
import type { LongStreamReport, SuiteReport } from '../../../sp800-22/src/index.ts';
import { kernelModule } from '../../../sp800-22/src/index.ts';
import { platform, type SuiteWorker } from '../platform.ts';
import { isTurnOver, nextTurn } from '../turns.ts';
import { type Answer, bytesOf, type Job, type StreamJob, work } from './worker.ts';

type AnyReport = SuiteReport | LongStreamReport;

interface Waiting {
  readonly job: Job | StreamJob;
  readonly resolve: (report: AnyReport) => void;
  readonly reject: (error: Error) => void;
}

export class SuitePool {
  readonly #size: number;
  readonly #start: () => SuiteWorker;
  readonly #workers: SuiteWorker[] = [];
  readonly #idle: SuiteWorker[] = [];
  readonly #waiting: Waiting[] = [];
  #closed = false;

  /** The kernels MUST be loaded. */
  constructor(size: number, createWorker?: () => SuiteWorker) {
    this.#size = size;
    this.#start = createWorker ?? platform().startWorker;
  }

  /** Moves the sequence to a worker, which wipes it. Rejects if the worker fails; the caller then closes the pool. */
  run(job: Job): Promise<SuiteReport> {
    return this.#run(job) as Promise<SuiteReport>;
  }

  /** The same for a long stream. */
  runStream(stream: Uint8Array<ArrayBuffer>): Promise<LongStreamReport> {
    return this.#run({ stream }) as Promise<LongStreamReport>;
  }

  #run(job: Job | StreamJob): Promise<AnyReport> {
    // A read in progress may still arrive.
    if (this.#closed) return refuse(job);
    if (this.#size === 0) return this.#runHere(job);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#dispatch();
    });
  }

  /** Lets the caller's thread handle what came meanwhile, such as a cancellation, every 50 ms. */
  async #runHere(job: Job | StreamJob): Promise<AnyReport> {
    if (isTurnOver()) await nextTurn();
    return this.#closed ? refuse(job) : reportOf(work(job));
  }

  /** Ends the workers. Waiting work is wiped; it and work in progress never settle. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { job } of this.#waiting.splice(0)) bytesOf(job).fill(0);
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
    assertWorker(worker);
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
    worker.postMessage(job, [bytesOf(job).buffer]);
  }
}

function assertWorker(worker: unknown): void {
  const methods = ['postMessage', 'terminate'] as const;
  const isWorker =
    typeof worker === 'object' &&
    worker !== null &&
    methods.every((method) => typeof (worker as Partial<SuiteWorker>)[method] === 'function');
  if (isWorker) return;
  throw new TypeError(`"createWorker" expected to return a Worker, got ${described(worker)}`);
}

function refuse(job: Job | StreamJob): Promise<never> {
  bytesOf(job).fill(0);
  return Promise.reject(new Error('closed'));
}

function reportOf(answer: Answer): AnyReport {
  if (typeof answer !== 'object' || answer === null || !('error' in answer || 'report' in answer)) {
    throw new TypeError(`the worker expected to answer with a report, got ${described(answer)}`);
  }
  if ('error' in answer) throw new Error(answer.error);
  return answer.report;
}

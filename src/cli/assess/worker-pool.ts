/** Worker threads that run the suite. Each starts when there is work for it. */
import type { Worker } from 'node:worker_threads';
import type { Constants, SuiteReport, TestName } from '#sp800-22';
import { wipe } from '../../bytes.ts';
import { startThread } from '../../worker-thread.ts';
import type { PackedSequence } from './input.ts';

export interface AssessJob {
  readonly sequence: PackedSequence;
  readonly constants: Constants;
  readonly only: readonly TestName[];
}

interface Waiting {
  readonly job: AssessJob;
  readonly resolve: (report: SuiteReport) => void;
  readonly reject: (error: Error) => void;
}

export class AssessPool {
  readonly #threads: number;
  readonly #workerUrl: URL;
  readonly #workers: Worker[] = [];
  readonly #idle: Worker[] = [];
  readonly #waiting: Waiting[] = [];
  #closed = false;

  constructor(threads: number, workerUrl: URL = new URL('./worker.ts', import.meta.url)) {
    this.#threads = threads;
    this.#workerUrl = workerUrl;
  }

  /** Moves the sequence to a worker. Rejects if the worker fails; the caller must then close the pool. */
  run(job: AssessJob): Promise<SuiteReport> {
    // A read in progress may still arrive.
    if (this.#closed) return Promise.reject(new Error('closed'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#dispatch();
    });
  }

  /** Ends the workers. Work in progress rejects. Waiting work is wiped and never settles. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { job } of this.#waiting.splice(0)) wipe(job.sequence.bytes);
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#idle.pop() ?? this.#start();
      const next = worker && this.#waiting.shift();
      if (!next) return;
      this.#give(worker, next);
    }
  }

  #start(): Worker | undefined {
    if (this.#workers.length === this.#threads) return undefined;
    const worker = startThread(this.#workerUrl);
    this.#workers.push(worker);
    return worker;
  }

  #give(worker: Worker, { job, resolve, reject }: Waiting): void {
    const onExit = (code: number): void => reject(new Error(`exited with code ${code}`));
    worker.once('error', reject);
    worker.once('exit', onExit);
    worker.once('message', (report: SuiteReport) => {
      worker.off('error', reject);
      worker.off('exit', onExit);
      resolve(report);
      this.#idle.push(worker);
      this.#dispatch();
    });
    worker.postMessage(job, [job.sequence.bytes.buffer]);
  }
}

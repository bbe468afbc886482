/** Worker threads that make permutations for the IID track. */

import type { Worker } from 'node:worker_threads';
import { endThread, startThread } from '../../../platform/src/threads/index.ts';
import type { PermutationJob, PermutationRunner } from '../../../sp800-90b/src/index.ts';

/** A thread finishes its job first. Without early stop, a job takes about 40 ms. */
const CLOSE_LIMIT_MS = 2_000;

/** TypeScript in the project, JavaScript in the package. */
const EXTENSION = import.meta.url.slice(-3);

type Statistics = readonly Float64Array[];

export class PermutationPool implements PermutationRunner {
  readonly parallel: number;
  readonly #workers: readonly Worker[];
  readonly #idle: Worker[];

  /** Each thread gets a copy of the samples. The caller MUST close the pool. */
  constructor(
    samples: Uint8Array,
    threads: number,
    workerUrl: URL = new URL(`./permutation-worker${EXTENSION}`, import.meta.url),
  ) {
    this.parallel = threads;
    this.#workers = Array.from({ length: threads }, () =>
      startThread(workerUrl, { workerData: samples }),
    );
    this.#idle = [...this.#workers];
  }

  /** Rejects if the worker fails, or if more than `parallel` jobs run. */
  run(job: PermutationJob): Promise<Statistics> {
    const worker = this.#idle.pop();
    if (!worker) return Promise.reject(new Error(`more than ${this.parallel} jobs at once`));
    return new Promise((resolve, reject) => {
      const onExit = (code: number): void => reject(new Error(`exited with code ${code}`));
      worker.once('error', reject);
      worker.once('exit', onExit);
      worker.once('message', (statistics: Statistics) => {
        worker.off('error', reject);
        worker.off('exit', onExit);
        this.#idle.push(worker);
        resolve(statistics);
      });
      worker.postMessage(job);
    });
  }

  /** Ends the threads, which wipe their memory. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => endThread(worker, CLOSE_LIMIT_MS)));
  }
}

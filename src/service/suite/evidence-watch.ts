/**
 * Passes samples of the key worker's generator to suite workers, from the main thread, and notices a verdict that does
 * not come.
 */
import type { Worker } from 'node:worker_threads';
import type { KeyWorkerMessage, KeyWorkerReply } from '../threads/messages.ts';
import { SUITE_LIMIT_MS, type SuiteLateness } from './limit.ts';
import type { SuitePool } from './pool.ts';

export class EvidenceWatch {
  readonly #worker: Worker;
  readonly #pool: Pick<SuitePool, 'judge'>;
  readonly #lateness: SuiteLateness;
  #failures = 0;

  constructor(worker: Worker, pool: Pick<SuitePool, 'judge'>, lateness: SuiteLateness) {
    this.#worker = worker;
    this.#pool = pool;
    this.#lateness = lateness;
    worker.on('message', (message: KeyWorkerReply) => {
      if ('sample' in message) void this.#judge(message.sample);
    });
  }

  /**
   * Failed samples of the key worker's generator. This thread knows of a failure before the key worker, which may be sending
   * keys of before.
   */
  get failures(): number {
    return this.#failures;
  }

  /** Has one sample judged. The key worker sends one at a time. */
  async #judge(sample: Uint8Array<ArrayBuffer>): Promise<void> {
    const timer = setTimeout(() => this.#lateness.note(this, true), SUITE_LIMIT_MS).unref();
    const verdict = await this.#pool.judge(sample);
    clearTimeout(timer);
    this.#lateness.note(this, false);
    if (verdict.gate.verdict !== 'PASS') this.#failures += 1;
    this.#worker.postMessage(verdict satisfies KeyWorkerMessage);
  }
}

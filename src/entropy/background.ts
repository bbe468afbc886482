/** A background source as seen by the main thread: its thread and its pool. */

import type { Worker } from 'node:worker_threads';
import { endThread, hasEnded, startThread } from '#platform/threads';
import type { SourceSettings } from '../config/index.ts';
import { latchedEvent, type SourceEvent } from './noise-pump.ts';
import type { NoiseWorkerData } from './noise-worker.ts';
import { allocatePool, type Pool, PooledSource, PoolFiller } from './pool.ts';
import { backgroundRow } from './registry.ts';
import type { BackgroundName, SourceStatus } from './source.ts';

/**
 * Time for which `close` waits for the thread. A submission that takes longer is not awaited, and
 * its job is not cancelled.
 */
const CLOSE_LIMIT_MS = 10_000;

export class BackgroundSource {
  /** The pool that the key and suite workers take draws from. */
  readonly pool: Pool;
  readonly #worker: Worker;
  readonly #view: PooledSource;
  #closing = false;

  /**
   * Starts the source's thread. `onEvent` receives events for the log. Throws `SetupError` if a
   * credential cannot be read.
   */
  constructor(
    name: BackgroundName,
    settings: SourceSettings,
    onEvent: (event: SourceEvent) => void,
  ) {
    const { kind, poolDraws, creditBits, isSeparate, prepare } = backgroundRow(name);
    const memory = allocatePool(poolDraws);
    this.pool = {
      name,
      kind,
      creditBitsPerDraw: creditBits(settings),
      isSeparate: isSeparate(settings),
      memory,
    };
    this.#view = new PooledSource(this.pool);
    const workerData: NoiseWorkerData = { settings: prepare(settings), memory };
    this.#worker = startThread(new URL('./noise-worker.ts', import.meta.url), { workerData });
    this.#worker.on('message', onEvent);
    // A thread that dies fails only its source, not the process.
    let cause = '';
    this.#worker.on('error', (error) => {
      cause = ` by an unexpected ${error instanceof Error ? error.name : typeof error}`;
    });
    this.#worker.on('exit', () => {
      if (this.#closing) return;
      new PoolFiller(memory).end('latched');
      onEvent(latchedEvent(`its thread ended${cause}`));
    });
  }

  status(): SourceStatus {
    return this.#view.status();
  }

  /** Ends the thread, by force after `CLOSE_LIMIT_MS`, and wipes the pool. */
  async close(): Promise<void> {
    this.#closing = true;
    if (hasEnded(this.#worker)) return;
    await endThread(this.#worker, CLOSE_LIMIT_MS);
    // The thread has ended, so there is no other filler.
    new PoolFiller(this.pool.memory).end('closed');
  }
}

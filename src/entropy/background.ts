/** A background source as the main thread holds it: its thread, its pool and its end. */
import type { Worker } from 'node:worker_threads';
import type { SourceSettings } from '../config/index.ts';
import { endThread, hasEnded, startThread } from '../worker-thread.ts';
import { latchedEvent, type SourceEvent } from './noise-pump.ts';
import type { NoiseWorkerData } from './noise-worker.ts';
import { allocatePool, type Pool, PooledSource, PoolFiller } from './pool.ts';
import { backgroundRow } from './registry.ts';
import type { BackgroundName, SourceStatus } from './source.ts';

/** A submission to a service that does not answer may take longer; its job is then not cancelled. */
const CLOSE_LIMIT_MS = 10_000;

export class BackgroundSource {
  /** For the threads that take draws. */
  readonly pool: Pool;
  readonly #worker: Worker;
  readonly #view: PooledSource;
  #closing = false;

  /**
   * Starts the source's thread. `onEvent` is told what an operator should know, for the log. Throws
   * `SetupError` when a credential cannot be read.
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
    // A thread that dies costs its source, not the process: nothing it made was used unasked.
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

  /** Ends the thread, by force when it takes too long; what is left in the pool is wiped. */
  async close(): Promise<void> {
    this.#closing = true;
    if (hasEnded(this.#worker)) return;
    await endThread(this.#worker, CLOSE_LIMIT_MS);
    // The thread has ended: there is no other filler.
    new PoolFiller(this.pool.memory).end('closed');
  }
}

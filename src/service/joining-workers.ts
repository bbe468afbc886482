/**
 * Suite workers that start while the service already serves. Each joins once it has passed its self-tests and screened its
 * generator. It has no work before, so that every key comes from a tested thread.
 */
import type { Worker } from 'node:worker_threads';
import { endThread } from '../worker-thread.ts';
import type { WorkerReady } from './messages.ts';
import { type ReadyWorker, readyWorker } from './ready-worker.ts';
import type { WaitingThread } from './waiting-threads.ts';

export interface JoiningEvents {
  readonly onJoined: (ready: ReadyWorker) => void;
  /** Called if a worker cannot start. The process MUST end, as if the worker had died later. */
  readonly onFatal: (error: Error) => void;
}

export class JoiningWorkers {
  readonly #events: JoiningEvents;
  readonly #starting = new Set<Worker>();
  #isClosed = false;

  constructor(events: JoiningEvents) {
    this.#events = events;
  }

  /** Sends a thread its data. Resolves when it has joined, cannot start, or has been closed. Never rejects. */
  async add(thread: WaitingThread<WorkerReady>, data: unknown): Promise<void> {
    const { worker } = thread;
    this.#starting.add(worker);
    try {
      const ready = readyWorker(worker, await thread.start(data));
      if (this.#isClosed) return;
      this.#starting.delete(worker);
      this.#events.onJoined(ready);
    } catch (error) {
      if (!this.#isClosed) this.#events.onFatal(error as Error);
    }
  }

  /**
   * Ends the workers that have not joined, at the end of their startup, and terminates them after `limitMs`. None joins
   * from now on.
   */
  async close(limitMs: number): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#starting].map((worker) => endThread(worker, limitMs)));
  }
}

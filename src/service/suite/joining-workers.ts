/**
 * Suite workers that start while the service already serves. Each joins once it has passed its self-tests and screened its
 * generator. It has no work before, so that every key comes from a tested thread. One that hangs is ended: the service
 * goes on with those that it has.
 */

import type { Worker } from 'node:worker_threads';
import { endThread } from '#platform/threads';
import { MINUTE_MS } from '../../clock.ts';
import type { WorkerReady } from '../threads/messages.ts';
import { type ReadyWorker, readyWorker } from '../threads/ready-worker.ts';
import type { WaitingThread } from '../threads/waiting-threads.ts';

/** Time limit for a worker to join. It takes a second, and some ten on a busy machine, because it runs at niceness 10. */
export const JOIN_LIMIT_MS = 2 * MINUTE_MS;

interface JoiningEvents {
  readonly onJoined: (ready: ReadyWorker) => void;
  /** Called if a worker did not join in time. It has been ended, and no other takes its place. */
  readonly onLost: (waitedMs: number) => void;
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

  /** Sends a thread its data. Resolves when it has joined, cannot start, or has been ended. Never rejects. */
  async add(thread: WaitingThread<WorkerReady>, data: unknown): Promise<void> {
    const { worker } = thread;
    this.#starting.add(worker);
    const timer = setTimeout(() => this.#end(worker), JOIN_LIMIT_MS).unref();
    try {
      const ready = readyWorker(worker, await thread.start(data));
      if (this.#settle(worker)) this.#events.onJoined(ready);
    } catch (error) {
      if (this.#settle(worker)) this.#events.onFatal(error as Error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends a worker that hangs. */
  #end(worker: Worker): void {
    if (!this.#settle(worker)) return;
    void worker.terminate();
    this.#events.onLost(JOIN_LIMIT_MS);
  }

  /** Returns true once for each worker: not if it was ended before, nor if the service closes. */
  #settle(worker: Worker): boolean {
    return !this.#isClosed && this.#starting.delete(worker);
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

/**
 * Threads that start before the service knows its ledger. They load their modules and run their known-answer tests beside
 * the main thread, which takes as long for its own modules, and wait there for the data that they work with.
 */

import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { startThread } from '#platform/threads';
import type { WorkerReady, WorkerUp } from './messages.ts';
import { whenUp } from './ready-worker.ts';

/** For new objects in threads that are not on the path of a single plain key. */
export const YOUNG_MIB = 6;

/** For new objects in the key worker: half of V8's default. Its longest collections take less, and the rate of plain keys does not change. */
const KEYS_YOUNG_MIB = 24;

/** What such a thread knows from its start. */
export interface WaitingThreadData {
  /** Receives the data, in one message. */
  readonly setup: MessagePort;
}

/** A thread that waits for its data. `T` is its first message. */
export class WaitingThread<T extends WorkerUp = WorkerUp> {
  readonly worker: Worker;
  readonly #setup: MessagePort;
  readonly #up: Promise<T & { kind: 'ready' }>;

  /** Starts the thread of a file in `threads/`. `name` appears in the operating system's list of threads. */
  constructor(name: string, file: string, youngMiB?: number) {
    const { port1, port2: setup } = new MessageChannel();
    const workerData: WaitingThreadData = { setup };
    const url = new URL(`./${file}`, import.meta.url);
    this.worker = startThread(url, { name, workerData, transferList: [setup], youngMiB });
    this.#setup = port1;
    this.#up = whenUp<T>(this.worker);
    // `start` reports a failure. A server that cannot start does not wait for this thread.
    this.#up.catch(() => {});
    this.worker.unref();
  }

  /** Sends the data. Resolves with the thread's first message. Throws `SetupError` if the thread cannot start. */
  start(data: unknown): Promise<T & { kind: 'ready' }> {
    this.worker.ref();
    this.#setup.postMessage(data);
    this.#setup.close();
    return this.#up;
  }
}

/** The threads that a service needs to be ready. */
export interface WaitingThreads {
  readonly keyWorker: WaitingThread<WorkerReady>;
  /** The first of the suite workers. */
  readonly suiteWorker: WaitingThread<WorkerReady>;
}

export function startWaitingThreads(): WaitingThreads {
  return {
    // The suite takes longest to test.
    suiteWorker: waitingSuiteWorker(),
    keyWorker: new WaitingThread('phm-keys', 'key-thread.ts', KEYS_YOUNG_MIB),
  };
}

export function waitingSuiteWorker(): WaitingThread<WorkerReady> {
  return new WaitingThread('phm-suite', 'suite-worker.ts', YOUNG_MIB);
}

/** Shared code of the service's worker threads: startup, shutdown and lower priority. */
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { dropWebCryptoWarnings, releaseStartMemory } from '#platform/threads';
import { logThreadWarnings } from '../../process/process-log.ts';
import type { WorkerUp } from './messages.ts';
import type { WaitingThreadData } from './waiting-threads.ts';

/**
 * Runs `start`, which prepares the thread and then listens. If it fails, reports the reason and the result of `mayPass`
 * to the main thread, and ends the thread.
 */
export async function runThread(
  start: (port: MessagePort) => void | Promise<void>,
  mayPass: (error: unknown) => boolean = () => false,
): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error(`${import.meta.url} runs in worker threads only`);
  dropWebCryptoWarnings();
  logThreadWarnings();
  try {
    await start(port);
    releaseStartMemory();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    port.postMessage({ kind: 'unable', message, mayPass: mayPass(error) } satisfies WorkerUp);
    port.close();
  }
}

/** Resolves with the data of a `WaitingThread`, once the main thread has sent it. */
export async function threadData<T>(): Promise<T> {
  const { setup } = workerData as WaitingThreadData;
  const [data] = (await once(setup, 'message')) as [T];
  setup.close();
  return data;
}

/** Counts answers in progress, which a thread completes before it ends. Not a Set of them, for the reason in `requests/queue.ts`. */
export class PendingAnswers {
  #count = 0;
  #onSent: (() => void) | undefined;

  add(answer: Promise<void>): void {
    this.#count += 1;
    void answer.then(() => {
      this.#count -= 1;
      if (this.#count === 0) this.#onSent?.();
    });
  }

  /** Resolves when all answers in progress are sent. */
  async sent(): Promise<void> {
    if (this.#count > 0)
      await new Promise<void>((resolve) => {
        this.#onSent = resolve;
      });
  }
}

/** Nice value of threads with lower priority (setpriority(2)). */
const NICENESS = 10;

/**
 * Lowers the priority of this thread. The suite takes milliseconds of a core, statistics tens of milliseconds, and a
 * plain key some microseconds, so on a busy machine the long work should wait. Only Linux sets the priority per thread;
 * elsewhere the whole process would change.
 */
export function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // If a sandbox forbids it, plain requests only become slower.
  }
}

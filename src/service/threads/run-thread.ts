/** The side of the service's worker threads that all of them share: how they start, how they end, and which stand back. */
import { setPriority } from 'node:os';
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { WorkerUp } from '../messages.ts';

/**
 * Runs `start`, which makes ready and then listens. If it fails, the main thread is told why, and whether `mayPass` says
 * that the failure may pass, and the thread ends.
 */
export async function runThread(
  start: (port: MessagePort) => void | Promise<void>,
  mayPass: (error: unknown) => boolean = () => false,
): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error(`${import.meta.url} runs in worker threads only`);
  try {
    await start(port);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    port.postMessage({ kind: 'unable', message, mayPass: mayPass(error) } satisfies WorkerUp);
    port.close();
  }
}

/** Answers that a thread has begun and gives before it ends. */
export class UnderWay {
  readonly #answers = new Set<Promise<void>>();

  add(answer: Promise<void>): void {
    this.#answers.add(answer);
    void answer.then(() => this.#answers.delete(answer));
  }

  /** Resolves when all that have begun are given. */
  async given(): Promise<void> {
    await Promise.all(this.#answers);
  }
}

/** How far they stand back (setpriority(2)). */
const NICENESS = 10;

/**
 * The suite takes milliseconds of a core, statistics take tens of them, a plain key some microseconds: on
 * a machine that is full, these wait first. On Linux the priority is the thread's own, elsewhere the process's.
 */
export function standBack(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // A sandbox that forbids it costs plain requests some of their speed and nothing else.
  }
}

/** Starts and ends worker threads. */
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { COMPILE_CACHE_ENVIRONMENT } from './compile-cache.ts';

/**
 * Starts a thread, which sees nothing of the environment. `name` is the thread's in the operating system's lists. No
 * module of a thread may await at its top: V8 aborts the process when it ends a thread while such a module does.
 */
export function startThread(
  url: URL,
  options: Pick<WorkerOptions, 'name' | 'workerData'> = {},
): Worker {
  return new Worker(url, { ...options, env: COMPILE_CACHE_ENVIRONMENT });
}

/**
 * Asks a thread with the message `close` to end after what it has begun, and terminates it after `limitMs`. Resolves when
 * it has ended, for whatever reason.
 */
export async function endThread(worker: Worker, limitMs?: number): Promise<void> {
  if (hasEnded(worker)) return;
  // Not `once` of node:events, which rejects when the thread fails meanwhile.
  const exit = new Promise((resolve) => worker.once('exit', resolve));
  worker.postMessage('close');
  const timer =
    limitMs === undefined ? undefined : setTimeout(() => void worker.terminate(), limitMs);
  await exit;
  clearTimeout(timer);
}

/** Node takes the id away when a thread ends. */
export function hasEnded({ threadId }: Worker): boolean {
  return threadId === -1;
}

/** Starts and ends worker threads. */
import { isMainThread, Worker, type WorkerOptions } from 'node:worker_threads';
import { childEnvironment } from './compile-cache.ts';
import { isWorkingDirectoryGone } from './working-directory.ts';

interface ThreadOptions extends Pick<WorkerOptions, 'name' | 'transferList' | 'workerData'> {
  /**
   * Most MiB of the heap for new objects. With less, a thread that waits for most of the time collects more often, and does not keep
   * the pages of its busiest second. Default: V8's.
   */
  readonly youngMiB?: number | undefined;
}

/**
 * Starts a thread of a program. The program goes to the root directory if its own was removed. See `newThread`.
 */
export function startThread(url: URL, options: ThreadOptions = {}): Worker {
  leaveRemovedDirectory();
  return newThread(url, options);
}

/**
 * Starts a thread that does not see the environment. `name` appears in the operating system's list of threads. A thread of
 * a server MUST call `logThreadWarnings`. No module of a thread may use top-level await: V8 aborts the process if the thread
 * is terminated during it.
 */
export function newThread(url: URL, { youngMiB, ...options }: ThreadOptions = {}): Worker {
  const resourceLimits = youngMiB === undefined ? {} : { maxYoungGenerationSizeMb: youngMiB };
  return new Worker(url, { ...options, resourceLimits, env: childEnvironment() });
}

/** Node starts no thread in a directory that was removed while the process ran. Nothing can be found there anyway. */
function leaveRemovedDirectory(): void {
  if (isMainThread && isWorkingDirectoryGone()) process.chdir('/');
}

/**
 * Sends `close`, so that the thread ends after its current work, and terminates it after `limitMs`. Resolves when the
 * thread has ended, for any reason.
 */
export async function endThread(worker: Worker, limitMs?: number): Promise<void> {
  if (hasEnded(worker)) return;
  // Not `once` of node:events, which would reject if the thread fails.
  const exit = new Promise((resolve) => worker.once('exit', resolve));
  worker.postMessage('close');
  const timer =
    limitMs === undefined ? undefined : setTimeout(() => void worker.terminate(), limitMs);
  await exit;
  clearTimeout(timer);
}

/** Reports whether a thread has ended: Node then sets its ID to -1. */
export function hasEnded({ threadId }: Worker): boolean {
  return threadId === -1;
}

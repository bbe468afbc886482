/** Starting worker threads, and what they say first. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { COMPILE_CACHE_ENVIRONMENT } from '../../compile-cache.ts';
import { SetupError } from '../../errors.ts';
import type { GeneratorStatus } from '../../keys/generator.ts';
import type { FailedVerdict } from '../../keys/latch.ts';
import type { KeyWorkerMessage, KeyWorkerReply, WorkerReady, WorkerUp } from '../messages.ts';

export interface ReadyWorker {
  readonly worker: Worker;
  readonly status: GeneratorStatus;
  readonly failedVerdicts: readonly FailedVerdict[];
}

/**
 * The name is the thread's in the operating system's lists. No module of a thread may await at its top: V8 aborts
 * the process when it ends a thread while such a module does.
 */
export function spawn(name: string, file: string, workerData: unknown): Worker {
  const url = new URL(file, import.meta.url);
  return new Worker(url, { name, workerData, env: COMPILE_CACHE_ENVIRONMENT });
}

export async function whenReady(worker: Worker): Promise<ReadyWorker> {
  const { status, failedVerdicts } = await whenUp<Extract<WorkerReady, { kind: 'ready' }>>(worker);
  return { worker, status, failedVerdicts };
}

/** The first message of a worker that can do its work. */
export async function whenUp<T extends WorkerUp>(worker: Worker): Promise<T & { kind: 'ready' }> {
  const ended = once(worker, 'exit').then(([code]) => {
    throw new SetupError(`a worker ended with code ${code} before it was ready`);
  });
  ended.catch(() => {});
  const [message] = (await Promise.race([once(worker, 'message'), ended])) as [T];
  if (message.kind === 'unable') {
    throw new SetupError(message.message, { mayPass: message.mayPass ?? false });
  }
  return message as T & { kind: 'ready' };
}

/** Resolves once the key worker's thread has answered a ping: its event loop turns. The database takes no part in it. */
export function whenAnswered(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    const listener = (message: KeyWorkerReply) => {
      if (!('pong' in message)) return;
      worker.off('message', listener);
      resolve();
    };
    worker.on('message', listener);
    worker.postMessage('ping' satisfies KeyWorkerMessage);
  });
}

/** Ends a worker after what it has begun, and terminates one that does not end in time. */
export async function end(worker: Worker, limitMs = Number.POSITIVE_INFINITY): Promise<void> {
  const exit = once(worker, 'exit');
  worker.postMessage('close');
  const timer =
    limitMs === Number.POSITIVE_INFINITY
      ? undefined
      : setTimeout(() => void worker.terminate(), limitMs);
  await exit;
  clearTimeout(timer);
}

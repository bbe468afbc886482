/** Starting worker threads, and what they say first. */
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { SetupError } from '../errors.ts';
import type { GeneratorStatus } from './generator.ts';
import type { WorkerReady, WorkerUp } from './messages.ts';

/** The folder as it was given: Node makes one below it for each version of its own. */
const folder = getCompileCacheDir();
const COMPILE_CACHE = folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };

export interface ReadyWorker {
  readonly worker: Worker;
  readonly status: GeneratorStatus;
}

/**
 * Workers see no environment: what they need of the configuration they are given. Where Node keeps compiled
 * code it does so for them too, or each would compile its modules again. The name is the thread's in the
 * operating system's lists.
 */
export function spawn(name: string, file: string, workerData: unknown): Worker {
  const url = new URL(file, import.meta.url);
  return new Worker(url, { name, workerData, env: COMPILE_CACHE });
}

export async function whenReady(worker: Worker): Promise<ReadyWorker> {
  const { status } = await whenUp<Extract<WorkerReady, { kind: 'ready' }>>(worker);
  return { worker, status };
}

/** The first message of a worker that can do its work. */
export async function whenUp<T extends WorkerUp>(worker: Worker): Promise<T & { kind: 'ready' }> {
  const ended = once(worker, 'exit').then(([code]) => {
    throw new SetupError(`a worker ended with code ${code} before it was ready`);
  });
  ended.catch(() => {});
  const [message] = (await Promise.race([once(worker, 'message'), ended])) as [T];
  if (message.kind === 'unable') throw new SetupError(message.message);
  return message as T & { kind: 'ready' };
}

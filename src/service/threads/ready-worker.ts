/** Waits for the first message of a worker thread, reports its end, and pings the key worker. */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { SetupError } from '../../errors.ts';
import type { GeneratorStatus } from '../../keys/generator.ts';
import type { EvidenceWarning } from '../../keys/latch.ts';
import type { KeyWorkerMessage, KeyWorkerReply, WorkerReady, WorkerUp } from './messages.ts';

export interface ReadyWorker {
  readonly worker: Worker;
  readonly status: GeneratorStatus;
  readonly warnings: readonly EvidenceWarning[];
}

/** Returns a worker with what its first message says. */
export function readyWorker(
  worker: Worker,
  { status, warnings }: WorkerReady & { kind: 'ready' },
): ReadyWorker {
  return { worker, status, warnings };
}

/** Resolves with the first message of a worker that is ready. Throws `SetupError` if the worker cannot start. */
export async function whenUp<T extends WorkerUp>(worker: Worker): Promise<T & { kind: 'ready' }> {
  const ended = once(worker, 'exit').then(([code]) => {
    throw new SetupError(`a worker exited with code ${code} before it was ready`);
  });
  ended.catch(() => {});
  const [message] = (await Promise.race([once(worker, 'message'), ended])) as [T];
  if (message.kind === 'unable') {
    throw new SetupError(message.message, { mayPass: message.mayPass });
  }
  return message as T & { kind: 'ready' };
}

/** Resolves once the key worker's thread has answered a ping: its event loop runs. The database is not involved. */
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

/** Reports an error or an exit of a thread, unless the service is closing. */
export function reportEnd(
  worker: Worker,
  onFatal: (error: Error) => void,
  isClosing: () => boolean,
): void {
  worker.on('error', (error) => onFatal(error as Error));
  worker.on('exit', (code) => {
    const name = `WorkerExit (code ${code})`;
    if (!isClosing()) onFatal(Object.assign(new Error(), { name }));
  });
}

/** Starts the workers of the page, whose program is in the page. */
import type { Failure, SuiteFailure, SuiteOrder } from './messages.ts';

declare const __WORKER__: string;

type Role = 'run' | 'hash' | 'entropy';

/** Address of the program of all workers. */
const ADDRESS = URL.createObjectURL(new Blob([__WORKER__], { type: 'text/javascript' }));

/** A worker with one task. */
export interface Task<Result> {
  readonly result: Promise<Result>;
  send(message: unknown): void;
  /** Ends the workers. Unless the result is there, it rejects with the reason. */
  end(reason: string): void;
}

/** Starts a worker, and the suite workers that it orders. Rejects with its failure. Ends all when its result is there. */
export function startTask<Result, Progress = never>(
  role: Role,
  request: unknown,
  onProgress: (progress: Progress) => void = () => {},
): Task<Result> {
  const worker = new Worker(ADDRESS, { name: role });
  const workers = [worker];
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  worker.onerror = (event) => reject(new Error(event.message || 'a worker did not start'));
  worker.onmessageerror = () => reject(new Error('a message of a worker could not be read'));
  worker.onmessage = ({ data }: MessageEvent<Result | Progress | SuiteOrder | Failure>) => {
    if (isKind<SuiteOrder>(data, 'suite')) {
      workers.push(startSuiteWorker(data, (failure) => worker.postMessage(failure)));
      return;
    }
    if (isKind<Progress>(data, 'progress')) return onProgress(data);
    if (isKind<Failure>(data, 'failure')) reject(new Error(data.message));
    else resolve(data as Result);
  };
  worker.postMessage(request);
  const result = promise.finally(() => {
    // Nothing would end the worker of an order that is still on its way.
    worker.onmessage = null;
    for (const one of workers) one.terminate();
  });
  // A caller that ends a task need not wait for its result.
  result.catch(() => {});
  return {
    result,
    send: (message) => worker.postMessage(message),
    end: (reason) => reject(new Error(reason)),
  };
}

function startSuiteWorker(order: SuiteOrder, onFailure: (failure: SuiteFailure) => void): Worker {
  const worker = new Worker(ADDRESS, { name: 'suite' });
  worker.onerror = (event) => {
    const message = event.message || 'the worker could not start';
    onFailure({ kind: 'suite failure', worker: order.worker, message });
  };
  worker.postMessage(order, [order.port]);
  return worker;
}

function isKind<Type>(data: unknown, kind: string): data is Type {
  return typeof data === 'object' && data !== null && 'kind' in data && data.kind === kind;
}

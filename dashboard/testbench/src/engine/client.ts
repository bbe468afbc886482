/** Starts the workers of the page, whose program is in the page. */
import type { Failure } from './messages.ts';

declare const __WORKER__: string;

export type Role = 'run' | 'hash' | 'entropy';

/** The program of all workers. */
export const PROGRAM = new Blob([__WORKER__], { type: 'text/javascript' });

const ADDRESS = URL.createObjectURL(PROGRAM);

/** A worker with one task. */
export interface Task<Result> {
  readonly result: Promise<Result>;
  send(message: unknown): void;
  /** Ends the worker. Unless the result is there, it rejects with the reason. */
  end(reason: string): void;
}

/** Starts a worker. Rejects with its failure. Ends the worker when its result is there. */
export function startTask<Result, Progress = never>(
  role: Role,
  request: unknown,
  onProgress: (progress: Progress) => void = () => {},
): Task<Result> {
  const worker = new Worker(ADDRESS, { name: role });
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  worker.onerror = (event) => reject(new Error(event.message || 'a worker did not start'));
  worker.onmessage = ({ data }: MessageEvent<Result | Progress | Failure>) => {
    if (isKind<Progress>(data, 'progress')) return onProgress(data);
    if (isKind<Failure>(data, 'failure')) reject(new Error(data.message));
    else resolve(data as Result);
  };
  worker.postMessage(request);
  const result = promise.finally(() => worker.terminate());
  // A caller that ends a task need not wait for its result.
  result.catch(() => {});
  return {
    result,
    send: (message) => worker.postMessage(message),
    end: (reason) => {
      worker.terminate();
      reject(new Error(reason));
    },
  };
}

function isKind<Type>(data: unknown, kind: string): data is Type {
  return typeof data === 'object' && data !== null && 'kind' in data && data.kind === kind;
}

/**
 * What the laboratory needs from its runtime. The default uses only what browsers and Node have in common; node.ts
 * installs Node's own.
 */
import { type Hash, Sha256 } from '../../sp800-22/src/index.ts';

/** A `Worker` of a browser, as far as an assessment uses it. */
export interface SuiteWorker {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onerror: ((event: { readonly message?: string }) => void) | null;
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  terminate(): unknown;
}

/** The end of the channel in the worker. */
interface WorkerPort {
  postMessage(message: unknown): void;
  /** Ends the worker. */
  close(): void;
  onMessage(listen: (message: unknown) => void): void;
}

interface Platform {
  readonly newHash: () => Hash;
  readonly cores: () => number;
  readonly startWorker: () => SuiteWorker;
  /** Returns the port of this thread; undefined in a thread that is no worker. */
  readonly workerPort: () => WorkerPort | undefined;
}

/** What browsers have. */
interface BrowserScope {
  readonly navigator?: { readonly hardwareConcurrency?: number };
  readonly Worker: new (url: URL, options: { readonly type: 'module' }) => SuiteWorker;
  readonly WorkerGlobalScope?: object;
  postMessage(message: unknown): void;
  close(): void;
  addEventListener(type: 'message', listen: (event: { readonly data: unknown }) => void): void;
}

const scope = globalThis as unknown as BrowserScope;

let current: Platform = {
  newHash: () => new Sha256(),
  cores: () => scope.navigator?.hardwareConcurrency ?? 1,
  startWorker: () =>
    new scope.Worker(new URL('./assess/worker-entry.js', import.meta.url), { type: 'module' }),
  workerPort: () => {
    if (scope.WorkerGlobalScope === undefined) return undefined;
    return {
      postMessage: (message) => scope.postMessage(message),
      close: () => scope.close(),
      onMessage: (listen) => scope.addEventListener('message', ({ data }) => listen(data)),
    };
  },
};

export function platform(): Platform {
  return current;
}

/** Replaces the platform of this thread. */
export function installPlatform(replacement: Platform): void {
  current = replacement;
}

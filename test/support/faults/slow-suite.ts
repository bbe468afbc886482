/**
 * Loaded into a server by `--import` (`slowSuite`). Each plain key uses up a whole interval between two samples
 * of its generator. While the named file exists, a suite worker that gets a sample or a job hangs and reacts to nothing.
 */
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';
import threads, {
  isMainThread,
  parentPort,
  threadName,
  type WorkerOptions,
} from 'node:worker_threads';
import { EVIDENCE_INTERVAL, PlainEvidence } from '../../../src/keys/plain-evidence.ts';

/** Returns the environment of a server whose suite hangs over samples and jobs while `file` exists. */
export function slowSuite(file: string): { readonly NODE_OPTIONS: string } {
  const url = pathToFileURL(import.meta.filename);
  url.search = new URLSearchParams({ file }).toString();
  return { NODE_OPTIONS: `--import=${url.href}` };
}

const POLL_MS = 10;

const file = new URL(import.meta.url).searchParams.get('file');
if (file !== null && isMainThread) {
  // The service starts its threads without NODE_OPTIONS.
  threads.Worker = class extends threads.Worker {
    constructor(url: string | URL, options: WorkerOptions) {
      super(url, { ...options, execArgv: [`--import=${import.meta.url}`] });
    }
  };
  syncBuiltinESMExports();
} else if (file !== null && threadName === 'phm-keys') {
  useUpIntervals();
} else if (file !== null && threadName === 'phm-suite') {
  hangWhile(() => existsSync(file));
}

function useUpIntervals(): void {
  const { keyGenerated } = PlainEvidence.prototype;
  PlainEvidence.prototype.keyGenerated = function () {
    for (let i = 1; i < EVIDENCE_INTERVAL; i++) keyGenerated.call(this);
    return keyGenerated.call(this);
  };
}

function hangWhile(isHung: () => boolean): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  // Registered before the thread's own listener.
  parentPort?.on('message', (message: object | string) => {
    if (typeof message === 'string' || !('sample' in message || 'jobs' in message)) return;
    while (isHung()) Atomics.wait(cell, 0, 0, POLL_MS);
  });
}

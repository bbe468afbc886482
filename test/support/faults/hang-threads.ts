/**
 * Loaded into a server by `--import` (`hangThreads`). While the folder holds a file named after a thread,
 * `main` or `phm-keys`, that thread hangs and reacts to nothing.
 */
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import threads, { isMainThread, threadName, type WorkerOptions } from 'node:worker_threads';

const POLL_MS = 20;

/** Returns the environment of a server whose threads hang while their files exist in `folder`. */
export function hangThreads(folder: string): { readonly NODE_OPTIONS: string } {
  const url = pathToFileURL(import.meta.filename);
  url.search = new URLSearchParams({ folder }).toString();
  return { NODE_OPTIONS: `--import=${url.href}` };
}

const folder = new URL(import.meta.url).searchParams.get('folder');
if (folder !== null) {
  if (isMainThread) {
    // The service starts its threads without NODE_OPTIONS.
    threads.Worker = class extends threads.Worker {
      constructor(url: string | URL, options: WorkerOptions) {
        super(url, { ...options, execArgv: [`--import=${import.meta.url}`] });
      }
    };
    syncBuiltinESMExports();
  }
  const file = join(folder, isMainThread ? 'main' : (threadName ?? ''));
  const cell = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => {
    while (existsSync(file)) Atomics.wait(cell, 0, 0, POLL_MS);
  }, POLL_MS).unref();
}

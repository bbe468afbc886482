/** Loaded into a server by `--import`: its threads emit warnings after they have started. */
import { syncBuiltinESMExports } from 'node:module';
import threads, { isMainThread, type WorkerOptions } from 'node:worker_threads';

const EVERY_MS = 200;

if (isMainThread) {
  // The service starts its threads without NODE_OPTIONS.
  threads.Worker = class extends threads.Worker {
    constructor(url: string | URL, options: WorkerOptions) {
      super(url, { ...options, execArgv: [`--import=${import.meta.url}`] });
    }
  };
  syncBuiltinESMExports();
} else {
  // Before the thread's own modules are loaded, Node prints warnings as text.
  const [ofNode] = process.listeners('warning');
  setInterval(() => {
    if (process.listeners('warning')[0] !== ofNode) process.emitWarning('staged');
  }, EVERY_MS).unref();
}

/** For modules that a test loads into a server by `--import`: loads them into the server's threads too. */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Makes every thread that starts from now on load the module at `url` first. Worker threads have an environment of
 * their own, without NODE_OPTIONS. `url` is the module's `import.meta.url`.
 */
export function loadIntoWorkers(url: string): void {
  class PreloadedWorker extends Worker {
    constructor(script: URL | string, options: WorkerOptions = {}) {
      super(script, { ...options, execArgv: ['--import', url] });
    }
  }
  createRequire(import.meta.url)('node:worker_threads').Worker = PreloadedWorker;
  syncBuiltinESMExports();
}

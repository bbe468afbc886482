/**
 * Loaded into a server by `--import`: makes the IBM Quantum reader poll a job after a fifth of a second instead
 * of two seconds, so that a test waits a tenth of the time.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { isMainThread, Worker, type WorkerOptions, workerData } from 'node:worker_threads';

const FIRST_POLL_MS = 200;

const require = createRequire(import.meta.url);

/** Returns the environment of a server with quick jobs. */
export function quickJobs(): { readonly NODE_OPTIONS: string } {
  const url = new URL(import.meta.url);
  url.search = 'quick';
  return { NODE_OPTIONS: `--import=${url.href}` };
}

/** Worker threads have an environment of their own, without NODE_OPTIONS. */
function loadIntoNoiseWorkers(): void {
  class QuickWorker extends Worker {
    constructor(url: URL | string, options: WorkerOptions = {}) {
      const isNoise = String(url).endsWith('/noise-worker.ts');
      super(url, { ...options, ...(isNoise && { execArgv: ['--import', import.meta.url] }) });
    }
  }
  require('node:worker_threads').Worker = QuickWorker;
  syncBuiltinESMExports();
}

if (new URL(import.meta.url).search === '?quick') {
  if (isMainThread) loadIntoNoiseWorkers();
  else if (workerData.settings.name === 'ibm-quantum') {
    const { IBM_QUANTUM_LIMITS } = require('../../../src/entropy/sources/ibm-quantum.ts');
    IBM_QUANTUM_LIMITS.firstPollMs = FIRST_POLL_MS;
  }
}

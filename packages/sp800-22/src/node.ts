/** Node's platform, and the only file of the package that imports `node:` modules. Loading it installs the platform. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parentPort, Worker } from 'node:worker_threads';
import { installPlatform, type SuiteWorker, type WorkerPort } from './platform.ts';
import type { Hash } from './sha256.ts';

installPlatform({
  readFile: (file) => readFileSync(file),
  newHash,
  cores: availableParallelism,
  startWorker,
  workerPort,
});

export { compileKernels, KernelsError } from './wasm.ts';

function newHash(): Hash {
  const hash = createHash('sha256');
  return {
    update: (bytes) => {
      hash.update(bytes);
    },
    hex: () => hash.copy().digest('hex'),
  };
}

/** TypeScript in the project, JavaScript in the package. */
const EXTENSION = import.meta.url.slice(-3);

function startWorker(): SuiteWorker {
  return suiteWorkerOf(
    new Worker(new URL(`./assess/worker-entry-node${EXTENSION}`, import.meta.url)),
  );
}

/** Gives a thread the interface of a browser's worker. */
export function suiteWorkerOf(thread: Worker): SuiteWorker {
  const worker: SuiteWorker = {
    onmessage: null,
    onerror: null,
    postMessage: (message, transfer) => thread.postMessage(message, transfer),
    terminate: () => thread.terminate(),
  };
  thread.on('message', (data) => worker.onmessage?.({ data }));
  thread.on('error', (error) => worker.onerror?.({ message: messageOf(error) }));
  thread.on('exit', (code) => worker.onerror?.({ message: `exited with code ${code}` }));
  return worker;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function workerPort(): WorkerPort | undefined {
  const port = parentPort;
  if (!port) return undefined;
  return {
    postMessage: (message) => port.postMessage(message),
    onMessage: (listen) => {
      port.on('message', listen);
    },
  };
}

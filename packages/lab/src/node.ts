/** Node's platform: its hash, its cores and its threads. */
import { availableParallelism } from 'node:os';
import { parentPort, type Worker } from 'node:worker_threads';
import { endThread, newThread, startThread } from '../../platform/src/threads/index.ts';
import { newHash } from '../../sp800-22/src/node.ts';
import { installPlatform, type SuiteWorker } from './platform.ts';

/** TypeScript in the project, JavaScript in the package. */
const EXTENSION = import.meta.url.slice(-3);

const SUITE_WORKER = new URL(`./assess/worker-entry-node${EXTENSION}`, import.meta.url);

installPlatform({
  newHash,
  cores: availableParallelism,
  startWorker: () => suiteWorkerOf(newThread(SUITE_WORKER)),
  workerPort,
});

/** Starts a worker thread of a program's command, or one with other code in tests. */
export function startWorker(code: URL = SUITE_WORKER): SuiteWorker {
  return suiteWorkerOf(startThread(code));
}

/**
 * Node before 22 aborts the process if a thread is terminated while the engine optimizes its code: "Assertion failed:
 * (data.first) != nullptr", once in some twenty busy threads. There it ends after the sequence in hand.
 */
const TERMINATES_SAFELY = Number(process.versions.node.split('.')[0]) >= 22;

/** Gives a thread the interface of a browser's worker. */
function suiteWorkerOf(thread: Worker): SuiteWorker {
  const worker: SuiteWorker = {
    onmessage: null,
    onerror: null,
    postMessage: (message, transfer) => thread.postMessage(message, transfer),
    terminate: () => (TERMINATES_SAFELY ? thread.terminate() : endThread(thread)),
  };
  thread.on('message', (data) => worker.onmessage?.({ data }));
  thread.on('error', (error) => worker.onerror?.({ message: messageOf(error) }));
  thread.on('exit', (code) => worker.onerror?.({ message: `exited with code ${code}` }));
  return worker;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function workerPort(): ReturnType<Parameters<typeof installPlatform>[0]['workerPort']> {
  const port = parentPort;
  if (!port) return undefined;
  return {
    postMessage: (message) => port.postMessage(message),
    close: () => port.close(),
    onMessage: (listen) => {
      port.on('message', listen);
    },
  };
}

/** The program of all workers of the page. The name of a worker says what it does. */
import { Sha256 } from '../../../sp800-22/src/sha256.ts';
import { estimateEntropy } from './engine/entropy.ts';
import type {
  EntropyProgress,
  EntropyRequest,
  Failure,
  RunRequest,
  SuiteFailure,
  SuiteOrder,
} from './engine/messages.ts';
import { runSuite } from './engine/run.ts';
import { failUnread, SuiteWorkers, serveOrder } from './engine/suite-workers.ts';

/** What a worker has: the types of the page are those of a window. */
interface WorkerScope {
  readonly name: string;
  onmessage: (event: MessageEvent) => void;
  onmessageerror: (event: MessageEvent) => void;
  postMessage(message: unknown, transfer?: Transferable[]): void;
}

const scope = self as unknown as WorkerScope;

/** Runs the suite on a file. Later messages cancel the run or say that a suite worker failed. */
function testFile(): void {
  const ending = new AbortController();
  const workers = new SuiteWorkers((order) => scope.postMessage(order, [order.port]));
  scope.onmessage = ({ data }: MessageEvent<RunRequest | SuiteFailure | 'cancel'>) => {
    if (data === 'cancel') ending.abort('cancelled');
    else if ('worker' in data) workers.fail(data);
    else {
      answer(
        runSuite(data, {
          startWorker: workers.start,
          onProgress: (progress) => scope.postMessage(progress),
          signal: ending.signal,
        }),
      );
    }
  };
}

/** Tests sequences for the worker of a run. */
function testSequences(): void {
  scope.onmessageerror = failUnread;
  scope.onmessage = ({ data }: MessageEvent<SuiteOrder>) => serveOrder(data);
}

async function hashFile(file: Blob): Promise<string> {
  const hash = new Sha256();
  const reader = file.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return hash.hex();
    hash.update(value);
  }
}

function answer(work: Promise<unknown>): void {
  work.then(
    (result) => scope.postMessage(result),
    (error) => scope.postMessage({ kind: 'failure', message: messageOf(error) } satisfies Failure),
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

switch (scope.name) {
  case 'suite':
    testSequences();
    break;
  case 'hash':
    scope.onmessage = ({ data }: MessageEvent<Blob>) => answer(hashFile(data));
    break;
  case 'entropy':
    scope.onmessage = ({ data }: MessageEvent<EntropyRequest>) =>
      answer(
        estimateEntropy(data, ({ finished, total, estimator }) =>
          scope.postMessage({
            kind: 'progress',
            finished,
            total,
            estimator,
          } satisfies EntropyProgress),
        ),
      );
    break;
  default:
    testFile();
}

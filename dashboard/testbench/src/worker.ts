/** The program of all workers of the page. The name of a worker says what it does. */
import { serve } from '../../../packages/sp800-22/src/assess/worker.ts';
import { Sha256 } from '../../../packages/sp800-22/src/sha256.ts';
import { estimateEntropy } from './engine/entropy.ts';
import type { EntropyProgress, EntropyRequest, Failure, RunRequest } from './engine/messages.ts';
import { runSuite } from './engine/run.ts';

/** What a worker has: the types of the page are those of a window. */
interface WorkerScope {
  readonly name: string;
  onmessage: (event: MessageEvent) => void;
  postMessage(message: unknown): void;
}

const scope = self as unknown as WorkerScope;

/** Runs the suite on a file. A second message cancels the run. */
function testFile(): void {
  const ending = new AbortController();
  scope.onmessage = ({ data }: MessageEvent<RunRequest | 'cancel'>) => {
    if (data === 'cancel') {
      ending.abort('cancelled');
      return;
    }
    const address = URL.createObjectURL(data.program);
    answer(
      runSuite(data, {
        startWorker: () => new Worker(address, { name: 'suite' }),
        onProgress: (progress) => scope.postMessage(progress),
        signal: ending.signal,
      }),
    );
  };
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
    serve();
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

/**
 * Loaded into a server by `--import` (`brokenOutput`). Once the named file exists, the DRBGs of the named
 * threads send each byte of a sample twice. Short outputs, such as keys and known answers, stay intact.
 */
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';
import threads, { isMainThread, threadName, type WorkerOptions } from 'node:worker_threads';
import { CtrDrbg } from '../../../src/drbg/index.ts';

/**
 * Returns the environment of a server whose `thread` (`phm-keys`, `phm-suite`) breaks once `file` exists. If `isUnheard`, no
 * thread is told of the latch that follows, as if the news were late.
 */
export function brokenOutput(
  thread: string,
  file: string,
  isUnheard = false,
): { readonly NODE_OPTIONS: string } {
  const url = pathToFileURL(import.meta.filename);
  url.search = new URLSearchParams({ thread, file, unheard: `${isUnheard}` }).toString();
  return { NODE_OPTIONS: `--import=${url.href}` };
}

/** Parts of samples are longer, keys and known answers shorter. */
const SAMPLE_PART_BYTES = 4_000;

const { searchParams } = new URL(import.meta.url);
const [thread, file] = [searchParams.get('thread'), searchParams.get('file')];
if (searchParams.get('unheard') === 'true') {
  Atomics.waitAsync = () => ({ async: true, value: new Promise(() => {}) });
}
if (file !== null && isMainThread) {
  // The service starts its threads without NODE_OPTIONS.
  threads.Worker = class extends threads.Worker {
    constructor(url: string | URL, options: WorkerOptions) {
      super(url, { ...options, execArgv: [`--import=${import.meta.url}`] });
    }
  };
  syncBuiltinESMExports();
} else if (file !== null && threadName === thread) {
  const { generate } = CtrDrbg.prototype;
  CtrDrbg.prototype.generate = function (lengthBytes, additionalInput) {
    const output = generate.call(this, lengthBytes, additionalInput);
    if (lengthBytes >= SAMPLE_PART_BYTES && existsSync(file)) {
      for (let i = 1; i < lengthBytes; i += 2) output[i] = output[i - 1];
    }
    return output;
  };
}

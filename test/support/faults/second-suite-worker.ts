/**
 * Loaded into a server by `--import` (`secondSuiteWorker`). Its second suite worker is broken: with `known` its DRBGs give wrong
 * known answers, with `sample` its generator sends each byte of a sample twice.
 */
import { syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';
import threads, { isMainThread, type WorkerOptions } from 'node:worker_threads';
import { CtrDrbg } from '../../../src/drbg/index.ts';
import { Generator } from '../../../src/keys/generator.ts';

/** Returns the environment of a server with two suite workers, the second of which breaks. */
export function secondSuiteWorker(broken: 'known' | 'sample'): Record<string, string> {
  const url = pathToFileURL(import.meta.filename);
  url.search = new URLSearchParams({ broken }).toString();
  return { PHM_WORKERS: '2', NODE_OPTIONS: `--import=${url.href}` };
}

const broken = new URL(import.meta.url).searchParams.get('broken');
if (broken !== null && isMainThread) {
  let suiteWorkers = 0;
  threads.Worker = class extends threads.Worker {
    constructor(url: string | URL, options: WorkerOptions) {
      const isSecond = options.name === 'phm-suite' && ++suiteWorkers === 2;
      super(url, isSecond ? { ...options, execArgv: [`--import=${import.meta.url}`] } : options);
    }
  };
  syncBuiltinESMExports();
} else if (broken === 'known') {
  const { generate } = CtrDrbg.prototype;
  CtrDrbg.prototype.generate = function (lengthBytes, additionalInput) {
    return generate.call(this, lengthBytes, additionalInput).fill(0);
  };
} else if (broken === 'sample') {
  const { request } = Generator.prototype;
  Generator.prototype.request = function (lengthBytes) {
    const output = request.call(this, lengthBytes);
    for (let i = 1; i < lengthBytes; i += 2) output[i] = output[i - 1];
    return output;
  };
}

/**
 * Loaded into a server by `--import`: breaks every generator in every thread with a defect from
 * test/keys/defects.ts, at once or when a file appears. It leaves the DRBG itself alone, so that known-answer
 * tests pass. The query names `defect` and `when`, the file.
 */
import { existsSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { Generator } from '../../../src/keys/generator.ts';
import { DEFECTS } from '../../keys/defects.ts';
import type { Alter } from '../../keys/weak-sources.ts';
import { loadIntoWorkers } from './preload.ts';

const SEED = 1;

const query = new URL(import.meta.url).searchParams;
const when = query.get('when');
const alters = new WeakMap<Generator, Alter>();
const request = Generator.prototype.request;

/** Returns the URL for `--import`. */
export function defectUrl(defect: string, when: string | null = null): string {
  const url = new URL(import.meta.url);
  url.search = new URLSearchParams({ defect, ...(when === null ? {} : { when }) }).toString();
  return url.href;
}

function startAlter(): Alter {
  const defect = DEFECTS.find(({ name }) => name === query.get('defect'));
  if (defect?.breaks && !defect.request && !defect.share) return defect.breaks(SEED);
  throw new TypeError(`"defect" expected one of all requests, got ${query.get('defect')}`);
}

function alterOf(generator: Generator): Alter {
  const alter = alters.get(generator) ?? startAlter();
  alters.set(generator, alter);
  return alter;
}

function breakGenerators(): void {
  Generator.prototype.request = function (this: Generator, lengthBytes: number): Buffer {
    const output = request.call(this, lengthBytes);
    if (when === null || existsSync(when)) alterOf(this)(output);
    return output;
  };
}

if (query.has('defect')) {
  breakGenerators();
  if (isMainThread) loadIntoWorkers(import.meta.url);
}

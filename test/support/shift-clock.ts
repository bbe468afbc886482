/**
 * Loaded into a server by `--import`: shifts the wall clock of every thread, `Date.now()` and `new Date()`, by
 * `shift` milliseconds, at once or when the file `when` appears. Both are in the query.
 */
import { existsSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { isMainThread, Worker, type WorkerOptions } from 'node:worker_threads';

const query = new URL(import.meta.url).searchParams;
const shiftMs = Number(query.get('shift'));
const when = query.get('when');

/** Returns the URL for `--import`. */
export function shiftUrl(shift: number, file: string | null = null): string {
  const url = new URL(import.meta.url);
  url.search = new URLSearchParams({
    shift: String(shift),
    ...(file === null ? {} : { when: file }),
  }).toString();
  return url.href;
}

function shiftClock(): void {
  const RealDate = Date;
  const now = () => RealDate.now() + (when === null || existsSync(when) ? shiftMs : 0);
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}

/** Worker threads have an environment of their own, without NODE_OPTIONS. */
function loadIntoWorkers(): void {
  class ShiftedWorker extends Worker {
    constructor(url: URL | string, options: WorkerOptions = {}) {
      super(url, { ...options, execArgv: ['--import', import.meta.url] });
    }
  }
  createRequire(import.meta.url)('node:worker_threads').Worker = ShiftedWorker;
  syncBuiltinESMExports();
}

if (query.has('shift')) {
  shiftClock();
  if (isMainThread) loadIntoWorkers();
}

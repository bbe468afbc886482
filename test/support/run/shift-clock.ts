/**
 * Loaded into a program by `--import`: shifts the wall clock of every thread, `Date.now()` and `new Date()`, by
 * `shift` milliseconds, at once or when the file `when` appears. Or it stands still at the time that the file `at` holds. They
 * are in the query.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { isMainThread, Worker, type WorkerOptions } from 'node:worker_threads';

const query = new URL(import.meta.url).searchParams;
const shiftMs = Number(query.get('shift'));
const when = query.get('when');
const at = query.get('at');

/** Returns the URL for `--import`. */
export function shiftUrl(shift: number, file: string | null = null): string {
  const url = new URL(import.meta.url);
  url.search = new URLSearchParams({
    shift: String(shift),
    ...(file === null ? {} : { when: file }),
  }).toString();
  return url.href;
}

/** Returns the URL for `--import` of a clock that only a test moves: `file` holds its time in milliseconds since 1970. */
export function heldUrl(file: string): string {
  const url = new URL(import.meta.url);
  url.search = new URLSearchParams({ at: file }).toString();
  return url.href;
}

function shiftClock(): void {
  const RealDate = Date;
  const now = (): number => {
    if (at !== null) return Number(readFileSync(at, 'utf8'));
    return RealDate.now() + (when === null || existsSync(when) ? shiftMs : 0);
  };
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

if (query.has('shift') || at !== null) {
  shiftClock();
  if (isMainThread) loadIntoWorkers();
}

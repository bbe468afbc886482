/**
 * Loaded into a program by `--import`: shifts the wall clock of every thread, `Date.now()` and `new Date()`, by
 * `shift` milliseconds, at once or when the file `when` appears, or by the milliseconds that the file `by` holds. They are in
 * the query.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { isMainThread, Worker, type WorkerOptions } from 'node:worker_threads';

const query = new URL(import.meta.url).searchParams;
const shiftMs = Number(query.get('shift'));
const when = query.get('when');
const by = query.get('by');

/** Returns the URL for `--import`. */
export function shiftUrl(shift: number, file: string | null = null): string {
  const url = new URL(import.meta.url);
  url.search = new URLSearchParams({
    shift: String(shift),
    ...(file === null ? {} : { when: file }),
  }).toString();
  return url.href;
}

/** Returns the URL for `--import` of a clock that a test moves: `file` holds by how many milliseconds. */
export function movedUrl(file: string): string {
  const url = new URL(import.meta.url);
  url.search = new URLSearchParams({ by: file }).toString();
  return url.href;
}

function shift(): number {
  if (by !== null) return Number(readFileSync(by, 'utf8'));
  return when === null || existsSync(when) ? shiftMs : 0;
}

function shiftClock(): void {
  const RealDate = Date;
  const now = () => RealDate.now() + shift();
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

if (query.has('shift') || by !== null) {
  shiftClock();
  if (isMainThread) loadIntoWorkers();
}

/** Loaded by `--import` into a program (`shiftedClock`): its clock, in all threads, is some days off. */
import { syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';
import threads, { isMainThread, type WorkerOptions } from 'node:worker_threads';
import type { Environment } from '../server.ts';

const DAY_MS = 86_400_000;

/** The environment of a program whose clock is ahead by so many days, or behind. */
export function shiftedClock(days: number): Environment {
  const url = pathToFileURL(import.meta.filename);
  url.search = new URLSearchParams({ days: String(days) }).toString();
  return { NODE_OPTIONS: `--import=${url.href}` };
}

const days = Number(new URL(import.meta.url).searchParams.get('days') ?? 0);
if (days !== 0) {
  shift(days * DAY_MS);
  if (isMainThread) shiftThreads();
}

function shift(byMs: number): void {
  const { now } = Date;
  globalThis.Date = class extends Date {
    static override now(): number {
      return now() + byMs;
    }
    constructor(...given: readonly unknown[]) {
      if (given.length === 0) super(now() + byMs);
      else super(...(given as [number]));
    }
  } as DateConstructor;
}

/** The service gives its threads an environment without NODE_OPTIONS. */
function shiftThreads(): void {
  threads.Worker = class extends threads.Worker {
    constructor(url: string | URL, options: WorkerOptions) {
      super(url, { ...options, execArgv: [`--import=${import.meta.url}`] });
    }
  };
  syncBuiltinESMExports();
}

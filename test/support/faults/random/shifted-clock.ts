/**
 * A module that `--import` loads into a program (`shiftedClock`) to shift the clock of all its threads by some
 * days.
 */
import { syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';
import threads, { isMainThread, type WorkerOptions } from 'node:worker_threads';
import type { Environment } from '../../servers/server.ts';

const DAY_MS = 86_400_000;

/** Returns the environment of a program whose clock is `days` ahead, or behind if negative. */
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

/** The service starts its threads with an environment without NODE_OPTIONS. */
function shiftThreads(): void {
  threads.Worker = class extends threads.Worker {
    constructor(url: string | URL, options: WorkerOptions) {
      super(url, { ...options, execArgv: [`--import=${import.meta.url}`] });
    }
  };
  syncBuiltinESMExports();
}

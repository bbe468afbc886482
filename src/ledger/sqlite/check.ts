/**
 * SQLite's own checks of a database file. A check is one call that cannot be interrupted, so a large file is checked
 * in a child process, which can be ended. A check reads one snapshot and holds no writer up; meanwhile the log grows.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { COMPILE_CACHE_ENVIRONMENT } from '../../compile-cache.ts';
import { isDamage } from './damage.ts';

/**
 * `quick_check` reads every page and row, and finds what is malformed. `integrity_check` also holds each index
 * against its table, which takes about five times as long.
 */
export type CheckKind = 'quick_check' | 'integrity_check';

/** What a check found. Damage inside a value that is a valid value again is seen by neither. */
export type CheckResult =
  | { readonly kind: 'sound' }
  /** The first thing that is wrong, in one line. */
  | { readonly kind: 'damaged'; readonly found: string }
  /** Why the file could not be checked. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface CheckReport {
  readonly result: CheckResult;
  readonly check: CheckKind;
  readonly bytes: number;
  readonly ms: number;
}

/** A check that may be under way still. */
export interface RunningCheck {
  /** Never rejects. */
  readonly report: Promise<CheckReport>;
  /** Ends it; the report is then a failure. */
  readonly stop: () => void;
  /** Lets this process end while the check is under way. */
  readonly unref: () => void;
}

/** A file of this size takes some 50 ms, less than a child process needs to start. */
const INLINE_BYTES = 32 * 2 ** 20;

const BUSY_TIMEOUT_MS = 5_000;

/** Starts a check: here if the file is small and `mayBlock`, else in a child process. */
export function startCheck(
  path: string,
  check: CheckKind,
  { mayBlock = false }: { mayBlock?: boolean } = {},
): RunningCheck {
  const startMs = performance.now();
  const bytes = sizeOf(path) + sizeOf(`${path}-wal`);
  const reportOf = (result: CheckResult): CheckReport => ({
    result,
    check,
    bytes,
    ms: Math.round(performance.now() - startMs),
  });
  if (mayBlock && bytes <= INLINE_BYTES) {
    const report = Promise.resolve(reportOf(checkFile(path, check)));
    return { report, stop: () => {}, unref: () => {} };
  }
  const child = startChild(path, check);
  return {
    report: resultOf(child).then(reportOf),
    stop: () => child.kill('SIGKILL'),
    unref: () => {
      child.unref();
      child.channel?.unref();
    },
  };
}

/** Checks the file in this thread. */
export function checkFile(path: string, check: CheckKind): CheckResult {
  try {
    const url = pathToFileURL(path);
    url.search = 'mode=rw';
    const database = new DatabaseSync(url, { timeout: BUSY_TIMEOUT_MS });
    try {
      const found = String(database.prepare(`PRAGMA ${check}(1)`).get()?.[check]);
      if (found === 'ok') return { kind: 'sound' };
      return { kind: 'damaged', found: found.replace(/\s*\n\s*/g, ' ') };
    } finally {
      database.close();
    }
  } catch (error) {
    const { message } = error as Error;
    return isDamage(error)
      ? { kind: 'damaged', found: message }
      : { kind: 'failed', reason: message };
  }
}

function startChild(path: string, check: CheckKind): ChildProcess {
  return fork(new URL('./check-process.ts', import.meta.url), [path, check], {
    env: COMPILE_CACHE_ENVIRONMENT,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Ctrl-C goes to a terminal's whole process group, and the server goes on until its requests are answered.
    detached: process.platform !== 'win32',
  });
}

function resultOf(child: ChildProcess): Promise<CheckResult> {
  return new Promise((resolve) => {
    child.once('message', (message) => resolve(message as CheckResult));
    child.once('error', ({ message }) => resolve({ kind: 'failed', reason: message }));
    child.once('exit', (code, signal) =>
      resolve({ kind: 'failed', reason: `the check ended with ${signal ?? `code ${code}`}` }),
    );
  });
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

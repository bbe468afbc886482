/**
 * SQLite's own checks of a database file. A check is one call that cannot be interrupted, so a large file
 * is checked in a child process, which can be killed. A check reads one snapshot and blocks no writer; the
 * log grows in the meantime.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { childEnvironment } from '#platform/threads';
import { findUnlisted } from './account-keys.ts';
import { isDamage } from './damage.ts';
import { findUnindexed } from './fingerprint-check.ts';
import { readOnlyUrl } from './schema.ts';

/**
 * `quick_check` reads every page and row and finds malformed ones. `integrity_check` also compares each
 * index with its table, also the deferred ones, which takes about five times as long.
 */
export type CheckKind = 'quick_check' | 'integrity_check';

/** The result of a check. Neither check sees a value that changed into another valid value. */
export type CheckResult =
  | { readonly kind: 'sound' }
  /** The first problem, in one line. */
  | { readonly kind: 'damaged'; readonly found: string }
  /** Why the file could not be checked. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface CheckReport {
  readonly result: CheckResult;
  readonly check: CheckKind;
  readonly bytes: number;
  readonly ms: number;
}

/** A check that may still be in progress. */
export interface RunningCheck {
  /** Never rejects. */
  readonly report: Promise<CheckReport>;
  /** Stops the check. Its report is then a failure. */
  readonly stop: () => void;
  /** Lets this process exit during the check. */
  readonly unref: () => void;
}

/**
 * Files up to this size are checked inline. That takes about 50 ms, less than a child process needs to
 * start.
 */
const INLINE_BYTES = 32 * 2 ** 20;

const BUSY_TIMEOUT_MS = 5_000;

interface CheckOptions {
  readonly mayBlock?: boolean;
  /** Creates no log and no index beside the file. */
  readonly readOnly?: boolean;
  /** `softwareName()` of a server that checks long after its start: a child process of other code checks nothing. */
  readonly software?: string;
}

/**
 * Starts a check: in this thread if the file is small and `mayBlock` is set, otherwise in a child process.
 */
export function startCheck(
  path: string,
  check: CheckKind,
  { mayBlock = false, readOnly = false, software = '' }: CheckOptions = {},
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
    const report = Promise.resolve(reportOf(checkFile(path, check, readOnly)));
    return { report, stop: () => {}, unref: () => {} };
  }
  const child = startChild([path, check, `${readOnly}`, software]);
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
export function checkFile(path: string, check: CheckKind, readOnly = false): CheckResult {
  try {
    const url = readOnly ? readOnlyUrl(path) : pathToFileURL(path);
    if (!readOnly) url.search = 'mode=rw';
    const database = new DatabaseSync(url, { timeout: BUSY_TIMEOUT_MS, readOnly });
    try {
      const found = String(database.prepare(`PRAGMA ${check}(1)`).get()?.[check]);
      if (found !== 'ok') return { kind: 'damaged', found: found.replace(/\s*\n\s*/g, ' ') };
      const unindexed =
        check === 'integrity_check' ? (findUnindexed(database) ?? findUnlisted(database)) : null;
      return unindexed === null ? { kind: 'sound' } : { kind: 'damaged', found: unindexed };
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

function startChild(args: readonly string[]): ChildProcess {
  return fork(new URL('./check-process.ts', import.meta.url), args, {
    env: childEnvironment(),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Ctrl-C reaches a terminal's whole process group, but the server still answers open requests.
    detached: process.platform !== 'win32',
  });
}

/** Returns what the process of a check sends, or that it ended without. */
export function resultOf(child: Pick<ChildProcess, 'once'>): Promise<CheckResult> {
  return new Promise((resolve) => {
    child.once('message', (message) => resolve(message as CheckResult));
    child.once('error', ({ message }) => resolve({ kind: 'failed', reason: message }));
    // Not `exit`, which a busy machine can notice first: the channel closes after what was sent is read.
    child.once('close', (code, signal) =>
      resolve({ kind: 'failed', reason: `the check ended with ${signal ?? `code ${code}`}` }),
    );
  });
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

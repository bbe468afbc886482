/**
 * Loaded into a server by `--import`: kills it between two operations of the log thread. Operations are its SQL
 * statements and its calls that change files, so every step of a turn is one without a word in the program itself.
 * A step is named by the operation before it and the one that it precedes.
 *
 * The query names `file`. The steps are appended to it, one a line. While `<file>.at` exists, the process kills itself
 * at the step in it, when the first operation is complete and the second has not begun.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { isMainThread, threadName } from 'node:worker_threads';
import pg from 'pg';
import { loadIntoWorkers } from './preload.ts';

const LOG_THREAD = 'phm-log';

/** Calls that change files. */
const FILE_CALLS = ['openSync', 'writeFileSync', 'writeSync', 'fsyncSync', 'renameSync', 'rmSync'];

const file = new URL(import.meta.url).searchParams.get('file');

/** Returns the value of NODE_OPTIONS for a server whose steps go to `file`. */
export function stepOptions(file: string): string {
  const url = new URL(import.meta.url);
  url.search = new URLSearchParams({ file }).toString();
  return `--import ${url.href}`;
}

/** Returns the name of the file that holds the step to kill at. */
export function killFile(file: string): string {
  return `${file}.at`;
}

/** The start of a statement, which tells the statements of a turn apart. */
function nameOf(sql: string): string {
  return sql.replace(/\s+/g, ' ').trim().slice(0, 60);
}

let last = 'start';
/** True during an operation: one that calls another is one step. */
let isInside = false;

function readTarget(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function step(operation: string, path: string): void {
  const name = `${last} → ${operation}`;
  if (readTarget(killFile(path)) === name) process.kill(process.pid, 'SIGKILL');
  appendFileSync(path, `${name}\n`);
  last = operation;
}

// biome-ignore lint/suspicious/noExplicitAny: wraps functions of any signature.
type Method = (this: any, ...args: any[]) => unknown;

/** Makes `holder[key]` report a step before it does its work. */
// biome-ignore lint/suspicious/noExplicitAny: wraps methods of any object.
function wrap(holder: any, key: string, name: (self: any, args: any[]) => string): void {
  const original: Method = holder[key];
  holder[key] = function (this: unknown, ...args: unknown[]) {
    if (isInside) return original.apply(this, args);
    isInside = true;
    try {
      step(name(this, args), file as string);
      return original.apply(this, args);
    } finally {
      isInside = false;
    }
  };
}

function wrapOperations(): void {
  wrap(DatabaseSync.prototype, 'exec', (_, [sql]) => nameOf(sql));
  for (const call of ['run', 'get', 'all', 'iterate']) {
    wrap(StatementSync.prototype, call, (statement) => nameOf(statement.sourceSQL));
  }
  wrap(pg.Client.prototype, 'query', (_, [query]) => nameOf(query?.text ?? String(query)));
  const fs = createRequire(import.meta.url)('node:fs');
  for (const call of FILE_CALLS) wrap(fs, call, () => call);
  syncBuiltinESMExports();
}

if (file !== null) {
  if (isMainThread) loadIntoWorkers(import.meta.url);
  else if (threadName === LOG_THREAD) wrapOperations();
}

/**
 * Loaded into a program by `--import`: kills a server at a commit of its key worker, or a command at a commit, right before
 * or right after. After it, what was committed is recorded and no client has it.
 *
 * The query has `commit`, the number of the commit, `when`: `before` or `after`, and `of`: `server` or `command`.
 */
import { DatabaseSync } from 'node:sqlite';
import { isMainThread, threadName } from 'node:worker_threads';
import pg from 'pg';
import { loadIntoWorkers } from './preload.ts';

const KEY_THREAD = 'phm-keys';

/** Statements that commit keys and revocations in PostgreSQL. */
const COMMITS = /commit_batch|INSERT INTO key_states/;

const query = new URL(import.meta.url).searchParams;

/** Returns the value of NODE_OPTIONS for a program that is killed at its n-th commit. */
export function killAtCommit(
  commit: number,
  when: 'before' | 'after',
  of: 'server' | 'command' = 'server',
): string {
  const url = new URL(import.meta.url);
  url.search = new URLSearchParams({ commit: String(commit), when, of }).toString();
  return `--import ${url.href}`;
}

let commits = 0;

/** Runs a commit, and ends the process if it is the one. */
function run<T>(commit: () => T): T {
  commits += 1;
  const isLast = commits === Number(query.get('commit'));
  if (isLast && query.get('when') === 'before') die();
  const result = commit();
  if (!isLast) return result;
  if (result instanceof Promise) return result.then(die) as T;
  return die();
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('killed');
}

function wrapCommits(): void {
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    return sql === 'COMMIT' ? run(() => exec.call(this, sql)) : exec.call(this, sql);
  };
  // biome-ignore lint/suspicious/noExplicitAny: the method has many signatures.
  const prototype = pg.Client.prototype as any;
  const send = prototype.query;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  prototype.query = function (config: any, ...others: unknown[]) {
    const isCommit = COMMITS.test(String(config?.text ?? config));
    const work = () => send.call(this, config, ...others);
    return isCommit ? run(work) : work();
  };
}

if (query.has('commit')) {
  if (query.get('of') === 'command') wrapCommits();
  else if (isMainThread) loadIntoWorkers(import.meta.url);
  else if (threadName === KEY_THREAD) wrapCommits();
}

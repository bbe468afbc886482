/**
 * The data directories of a test file's servers. A failed test names those in use while it ran and the logs of their servers,
 * also of its databases, and they stay. All others are removed when the next test begins, at the latest with the process.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import { afterEach, beforeEach } from 'node:test';
import { keep } from './leftovers.ts';

interface DataDir {
  readonly path: string;
  /** Read the logs of its servers, by the file that a log is kept in. */
  readonly logs: Map<string, () => string>;
  isInUse: boolean;
  isKept: boolean;
}

const dataDirs = new Map<string, DataDir>();
/** Read the logs of database servers, by the file that a log is kept in; null if the run writes it. */
const databaseLogs = new Map<string, (() => string) | null>();
/** False in benchmarks and programs that tests run, which also start servers, and report no tests. */
const isTestFile = /(\.test|\bexamples)\.ts$/.test(process.argv[1] ?? '');
let hasFailedTest = false;
let areDatabaseLogsKept = false;

/** Creates a folder for one server's data. */
export function makeDataDir(): string {
  const path = mkdtempSync(join(tmpdir(), 'phm-test-'));
  dataDirs.set(path, { path, logs: new Map(), isInUse: true, isKept: false });
  return path;
}

/** Lets go of a data directory. It and the log's state file beside it, with its lock, are removed unless a test failed. */
export function removeDataDir(path: string): void {
  const known = dataDirs.get(path);
  if (known) known.isInUse = false;
  else remove(path);
}

/** Notes the log of a server whose data are in this folder, or below one of these folders. */
export function noteLog(folder: string, log: () => string): void {
  const owner = [...dataDirs.values()].find(({ path }) => `${folder}${sep}`.startsWith(path + sep));
  owner?.logs.set(`${owner.path}.server-${owner.logs.size + 1}.log`, log);
}

/** Notes the log of a database server of this test file, or of one that it shares, which the run writes. */
export function noteDatabaseLog(file: string, log: (() => string) | null): void {
  if (isTestFile) databaseLogs.set(file, log);
}

/** Removes a data directory and what is beside it under longer names: the log's state file, its lock, its evidence. */
function remove(path: string): void {
  const [folder, name] = [dirname(path), basename(path)];
  if (!existsSync(folder)) return;
  for (const other of readdirSync(folder)) {
    if (other === name || other.startsWith(`${name}.`)) {
      rmSync(join(folder, other), { recursive: true, force: true });
    }
  }
}

function removeDone(): void {
  for (const { path, isInUse, isKept } of dataDirs.values()) {
    if (isInUse || isKept) continue;
    remove(path);
    dataDirs.delete(path);
  }
}

/** Keeps every directory that the test which failed may have used, and returns what to say about each. */
function keepAll(): string[] {
  const words = keepDatabaseLogs();
  for (const dataDir of dataDirs.values()) {
    const { path, logs, isInUse, isKept } = dataDir;
    if ((isKept && !isInUse) || !existsSync(path) || isUnused(dataDir)) continue;
    if (!isKept) keep(path);
    dataDir.isKept = true;
    const named = [...logs.keys()].map((file) => `, log ${file}`);
    words.push(`kept: data directory ${path}${named.join('')}`);
  }
  return words;
}

/** Keeps the logs of the file's database servers, and returns what to say about each, once. */
function keepDatabaseLogs(): string[] {
  if (areDatabaseLogsKept) return [];
  areDatabaseLogsKept = true;
  const files = [...databaseLogs.keys()];
  files.forEach(keep);
  return files.map((file) => `kept: PostgreSQL's log ${file}`);
}

/** True before the first server of a directory, which a later test may start. */
function isUnused({ path, logs }: DataDir): boolean {
  return logs.size === 0 && readdirSync(path).length === 0;
}

/** Lets go of what a failed hook has made and no hook can remove. */
function letGoOfUnused(): void {
  for (const dataDir of dataDirs.values()) {
    if (existsSync(dataDir.path) && isUnused(dataDir)) dataDir.isInUse = false;
  }
}

/** Writes the logs of what is kept, at last, because servers may go on after the test that failed. */
function writeLogs(): void {
  for (const [file, log] of areDatabaseLogsKept ? databaseLogs : []) {
    if (log) writeFileSync(file, log(), { mode: 0o600 });
  }
  for (const { isKept, logs } of dataDirs.values()) {
    if (!isKept) continue;
    // Logs and data may hold secrets of tests: only this user can read them.
    for (const [file, log] of logs) writeFileSync(file, log(), { mode: 0o600 });
  }
}

if (isTestFile) {
  beforeEach(removeDone);
  afterEach((test) => {
    if (test.passed || !('diagnostic' in test)) return;
    hasFailedTest = true;
    for (const words of keepAll()) test.diagnostic(words);
  });
}
process.on('exit', (code) => {
  // A hook that fails has no test of its own.
  if (code !== 0 && !hasFailedTest)
    for (const words of keepAll()) process.stderr.write(`${words}\n`);
  if (code !== 0) letGoOfUnused();
  removeDone();
  writeLogs();
});

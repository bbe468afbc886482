/**
 * A run's folder for temporary files, and what the run leaves: files there, and processes that know the folder by their
 * environment, command or working directory. A port is open as long as its process lives.
 */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The environment variable with the run's folder. `own-folder.mjs` reads it. */
const FOLDER = 'TEST_RUN_FOLDER';
/** The file in the run's folder with the paths that failed tests keep. */
const KEPT = 'kept';

/** Node's cache of compiled code, which npm and tsc turn on in the folder for temporary files. It goes with the run's. */
const NODES_CACHE = 'node-compile-cache';

/** How long a process may take to end after its test file: many times what a killed one needs on a busy machine. */
const ENDING_MS = Number(process.env.TEST_ENDING_MS ?? 30_000);
/** The same after an interruption, which most servers do not notice. PostgreSQL does, and ends in this time. */
const INTERRUPTED_MS = 2_000;
let isInterrupted = false;

/** Makes the folder of this run, and lets test files put their temporary files below it. */
export function makeRunFolder(): string {
  // A short name: the path of a socket has at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'phm-'));
  chmodSync(folder, 0o711);
  process.env[FOLDER] = folder;
  process.env.TMPDIR = folder;
  return folder;
}

/** Tells the run that a failed test keeps this path, and what is beside it under longer names. */
export function keep(path: string): void {
  const folder = process.env[FOLDER];
  if (folder !== undefined) appendFileSync(join(folder, KEPT), `${path}\n`);
}

/** Tells the run that it ends early: then its files leave what they have, which is no fault of theirs. */
export function interruptRun(): void {
  isInterrupted = true;
}

/**
 * Ends a run: ends processes that it left, removes its folder unless something is left or kept in it, and returns sentences about
 * what is left, with the test file. After an interruption nothing counts as left.
 */
export async function endRun(folder: string): Promise<string[]> {
  const processes = await leftProcesses(folder);
  for (const { pid } of processes) process.kill(pid, 'SIGKILL');
  const kept = readKept(folder);
  const left = [
    ...processes.map(({ file, pid, command }) => `${file} left process ${pid}: ${command}`),
    ...leftFiles(folder, kept).map(
      (path) => `${firstName(path.slice(folder.length + 1))} left ${path}`,
    ),
  ];
  const isClean = left.length === 0 || isInterrupted;
  // Processes that were just killed may still write.
  if (isClean && kept.length === 0) rmSync(folder, { recursive: true, maxRetries: 10 });
  return isInterrupted ? [] : left;
}

interface LeftProcess {
  readonly pid: number;
  readonly command: string;
  /** The test file that started it, as far as is known. */
  readonly file: string;
}

/** Returns the processes of the run that do not end. Finds none where there is no /proc. */
async function leftProcesses(folder: string): Promise<LeftProcess[]> {
  const endMs = performance.now() + (isInterrupted ? INTERRUPTED_MS : ENDING_MS);
  for (;;) {
    const alive = findProcesses(folder);
    if (alive.length === 0 || performance.now() > endMs) return alive;
    await delay(50);
  }
}

function findProcesses(folder: string): LeftProcess[] {
  if (!existsSync('/proc/self/environ')) return [];
  const found: LeftProcess[] = [];
  for (const pid of readdirSync('/proc').map(Number)) {
    if (Number.isNaN(pid) || pid === process.pid) continue;
    const traces = tracesOf(pid);
    if (!traces.some((text) => text.includes(folder))) continue;
    const paths = traces.flatMap((text) => text.split(`${folder}/`).slice(1));
    const command = traces[1]?.replaceAll('\0', ' ').trim() ?? '';
    found.push({ pid, command, file: paths[0] === undefined ? 'a test' : firstName(paths[0]) });
  }
  return found;
}

/** Returns a process's environment, command and working directory; nothing if it has ended or is another user's. */
function tracesOf(pid: number): string[] {
  try {
    const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8');
    return [read('environ'), read('cmdline'), `${readlinkSync(`/proc/${pid}/cwd`)}/`];
  } catch {
    return [];
  }
}

/** Returns the name of the test file in a path below the run's folder, as `own-folder.mjs` forms it. */
function firstName(path: string): string {
  const [name = ''] = path.split(/[/\0]/);
  return name;
}

/** Returns the paths that failed tests keep. */
export function readKept(folder: string): string[] {
  const file = join(folder, KEPT);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

/** Returns what is in the folders of test files, and beside them. */
function leftFiles(folder: string, kept: readonly string[]): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== KEPT)
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      const isOfFile = entry.isDirectory() && !/^phm-postgres-/.test(basename(path));
      return isOfFile ? readdirSync(path).map((name) => join(path, name)) : [path];
    })
    .filter((path) => basename(path) !== NODES_CACHE)
    .filter((path) => !kept.some((one) => path.startsWith(one)));
}

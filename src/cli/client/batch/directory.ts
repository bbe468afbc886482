/** The directory of `phm generate --output-dir`: one file for each key, the state file, and a lock. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { DurableFile, writeDurably } from '../../../files/durable-file.ts';
import { syncDirectory } from '../../../files/sync.ts';
import { CommandError, unwritable } from '../../command-error.ts';
import { readBounded, reasonOf } from '../../read-bounded.ts';
import { type BatchState, formatState, parseState, STATE_FILE } from './state.ts';

/** A key in the form of its file. */
export interface KeyContent {
  readonly keyId: string;
  readonly content: Buffer;
}

const LOCK_FILE = 'batch.lock';

/** Largest state file in bytes. It grows by 50 bytes for each lost key. */
const MAX_STATE = 2 ** 26;

/** Names of the temporary files that a killed process leaves (src/files/durable-file.ts). They may hold keys. */
const TEMPORARY = /^(?:phm_[0-9]+\.[a-z]+|batch\.json)\.[0-9a-f]{16}\.new$/;

/** A directory that this process alone fills until `close`. Methods throw `CommandError` if the file system refuses. */
export class KeyDirectory {
  readonly path: string;
  /** End of the names of key files, with its dot. */
  readonly #ending: string;
  readonly #isNew: boolean;

  /** Creates the directory if it is missing, with mode 0700, and locks it. */
  static open(path: string, ending: '.key' | '.sealed'): KeyDirectory {
    try {
      const isNew = makeDirectory(path);
      lock(path);
      const directory = new KeyDirectory(path, ending, isNew);
      directory.#removeLeftovers();
      return directory;
    } catch (error) {
      throw error instanceof CommandError ? error : unwritable(path, error);
    }
  }

  private constructor(path: string, ending: string, isNew: boolean) {
    this.path = path;
    this.#ending = ending;
    this.#isNew = isNew;
  }

  /** Removes the lock, and the directory if this process has created it and it is empty. */
  close(): void {
    rmSync(join(this.path, LOCK_FILE), { force: true });
    if (this.#isNew && readdirSync(this.path).length === 0) rmdirSync(this.path);
  }

  removeState(): void {
    rmSync(this.statePath, { force: true });
  }

  get statePath(): string {
    return join(this.path, STATE_FILE);
  }

  /** Returns the state that an earlier run left; null if there is none. */
  readState(): BatchState | null {
    if (!existsSync(this.statePath)) return null;
    const state = parseState(readText(this.statePath) ?? '');
    if (state !== null) return state;
    throw new CommandError(
      `${this.statePath} is not a state file of this version of phm, or it is damaged: name another directory`,
      1,
    );
  }

  /** Replaces the state file. The new state is durable when it returns. */
  saveState(state: BatchState): void {
    try {
      writeDurably(this.statePath, formatState(state), { replace: true });
    } catch (error) {
      throw unwritable(this.statePath, error);
    }
  }

  fileOf(keyId: string): string {
    return join(this.path, `${keyId}${this.#ending}`);
  }

  /** Reports whether the file of a key is there. It is complete if so. */
  has(keyId: string): boolean {
    return lstatSync(this.fileOf(keyId), { throwIfNoEntry: false })?.isFile() ?? false;
  }

  /** Writes the files that are not there yet, each with mode 0600. They are durable when it returns. */
  write(keys: readonly KeyContent[]): void {
    let path = this.path;
    try {
      for (const { keyId, content } of keys) {
        path = this.fileOf(keyId);
        if (!this.has(keyId)) writeOne(path, content);
      }
      path = this.path;
      // Once for all files, because it takes as long as a file.
      syncDirectory(path);
    } catch (error) {
      throw unwritable(path, error);
    }
  }

  #removeLeftovers(): void {
    for (const name of readdirSync(this.path)) {
      if (TEMPORARY.test(name)) rmSync(join(this.path, name), { force: true });
    }
  }
}

function writeOne(path: string, content: Uint8Array): void {
  const file = new DurableFile(path);
  try {
    file.write(content);
    // Key IDs are unique, and some file systems have no links, which an exclusive name would need.
    file.place({ replace: true });
  } finally {
    file.discard();
  }
}

function readText(path: string): string | null {
  try {
    return readBounded(path, MAX_STATE)?.toString('utf8') ?? null;
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${reasonOf(error)}`, 1);
  }
}

/** Returns true if the directory is new. */
function makeDirectory(path: string): boolean {
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing?.isDirectory()) return false;
  if (existing) throw new CommandError(`${path} exists and is not a directory: name another`, 1);
  mkdirSync(path, { mode: 0o700 });
  syncDirectory(dirname(path));
  return true;
}

/** Two processes in one directory would take each other's keys for lost. */
function lock(path: string): void {
  const file = join(path, LOCK_FILE);
  const own = `${JSON.stringify({ pid: process.pid, host: hostname() })}\n`;
  try {
    writeFileSync(file, own, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const holder = readFileSync(file, 'utf8');
    if (!isDead(holder)) throw isLocked(path, file, holder);
    rmSync(file, { force: true });
    writeFileSync(file, own, { flag: 'wx', mode: 0o600 });
  }
}

/** Reports whether the process that wrote a lock was on this machine and has ended. */
function isDead(holder: string): boolean {
  try {
    const { pid, host } = JSON.parse(holder);
    // A container that starts again often gives its process the same ID.
    return host === hostname() && Number.isSafeInteger(pid) && (pid === process.pid || !runs(pid));
  } catch {
    return false;
  }
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Reports whether a process has ended and only its parent does not know. Process 1 of some containers never looks. */
function isZombie(pid: number): boolean {
  try {
    // proc_pid_stat(5): the state follows the name, which is in parentheses.
    return /\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

function isLocked(path: string, file: string, holder: string): CommandError {
  const [, pid = 'unknown'] = /"pid":(\d+)/.exec(holder) ?? [];
  return new CommandError(
    `another phm (process ${pid}) fills ${path}: wait for it. If it no longer runs, remove ${file}`,
    1,
  );
}

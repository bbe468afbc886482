/** The directory of `phm generate --output-dir`: one file for each key, the state file, and a lock. */

import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { CommandError, requireOwnDirectory, unwritable } from '#platform/commands';
import { DurableFile, syncDirectory, writeDurably } from '#platform/files';
import { readBounded, reasonOf } from '../../read-bounded.ts';
import { type BatchState, formatState, parseState, STATE_FILE } from './state.ts';

/** A key in the form of its file. */
export interface KeyContent {
  readonly keyId: string;
  readonly content: Buffer;
}

/** A key whose file is complete, and the SHA-256 of the file. */
export interface ListedKey {
  readonly keyId: string;
  readonly digest: string;
}

const LOCK_FILE = 'batch.lock';

/** The list of the complete files: a line for each, with key ID and SHA-256. The digest of a key reveals nothing of it. */
const LIST_FILE = 'batch.keys';
const LISTED = /^(phm_[1-9][0-9]{0,38}) ([0-9a-f]{64})$/gm;

/** Largest file of a key in bytes: an answer with its report and its receipt has 60 kB. */
const MAX_FILE = 2 ** 20;

/** Largest state file in bytes. It grows by 50 bytes for each lost key. */
const MAX_STATE = 2 ** 26;

/** Largest list: a million keys, some of them twice. */
const MAX_LIST = 2 ** 28;

/** A link of this name is not followed. Windows has no such flag. */
const APPEND =
  constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0);

/** Names of the temporary files that a killed process leaves (`DurableFile`). They may hold keys. */
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
      requireOwnDirectory(path);
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

  /** Forgets the keys of an earlier run, whose state file someone removed. Their files stay. */
  removeList(): void {
    rmSync(join(this.path, LIST_FILE), { force: true });
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

  /** Reports whether the file of a key is there as the service gave it. */
  has(keyId: string, digest: string | undefined): boolean {
    const path = this.fileOf(keyId);
    if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    const content = readFileOf(path);
    const isSame = content !== null && digestOf(content) === digest;
    content?.fill(0);
    return isSame;
  }

  /** Adds keys to the list of complete files, which is durable when it returns. */
  list(keys: readonly ListedKey[]): void {
    if (keys.length === 0) return;
    const path = join(this.path, LIST_FILE);
    try {
      const file = openSync(path, APPEND, 0o600);
      try {
        // A process that was killed may have left half a line.
        const lines = keys.map(({ keyId, digest }) => `${keyId} ${digest}\n`);
        writeFileSync(file, `\n${lines.join('')}`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      throw unwritable(path, error);
    }
  }

  /** Throws `CommandError` unless `count` keys are listed and each file is as the service gave it. */
  requireAll(count: number): void {
    const path = join(this.path, LIST_FILE);
    const text = existsSync(path) ? (readText(path, MAX_LIST) ?? '') : '';
    const listed = new Map(
      [...text.matchAll(LISTED)].map(([, keyId = '', digest]) => [keyId, digest]),
    );
    const changed = [...listed].filter(([keyId, digest]) => !this.has(keyId, digest));
    if (listed.size === count && changed.length === 0) return;
    const [[keyId] = []] = changed;
    const found =
      keyId === undefined
        ? `${LIST_FILE} lists ${listed.size}`
        : `${changed.length === 1 ? 'one is missing or was' : `${changed.length} are missing or were`} changed since, such as ${this.fileOf(keyId)}`;
    throw new CommandError(
      `${this.path} does not have the ${count} keys that the service gave: ${found}. For other keys name another directory`,
      1,
    );
  }

  /** Writes the files that are not there yet, each with mode 0600. They are durable when it returns. */
  write(keys: readonly KeyContent[]): void {
    let path = this.path;
    try {
      for (const { keyId, content } of keys) {
        path = this.fileOf(keyId);
        if (!this.has(keyId, digestOf(content))) writeOne(path, content);
      }
      path = this.path;
      // Once for all files, because it takes as long as a file.
      syncDirectory(path);
    } catch (error) {
      throw error instanceof CommandError ? error : unwritable(path, error);
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

/** SHA-256 of a file, in hexadecimal digits. */
export function digestOf(content: Uint8Array): string {
  return hash('sha256', content);
}

function readFileOf(path: string): Buffer | null {
  try {
    return readBounded(path, MAX_FILE);
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${reasonOf(error)}`, 1);
  }
}

function readText(path: string, maxBytes = MAX_STATE): string | null {
  try {
    return readBounded(path, maxBytes)?.toString('utf8') ?? null;
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

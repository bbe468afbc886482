/**
 * Writes files that are whole or not there, and that survive a loss of power.
 *
 * Each is written under a temporary name in the same directory, with mode 0600, synced and then put in its place in one
 * step. The directory is synced last. If that fails, the error is thrown though the whole file is in its place.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SetupError } from '../errors.ts';
import { syncDirectory } from './sync.ts';

/** Only the owner reads these files: each may hold key material. */
const MODE = 0o600;

export interface Placement {
  /** False: an existing file stays, and the error has the code `EEXIST`. Needs a file system with hard links. */
  readonly replace: boolean;
  /**
   * For a file that can be made again: it is no error when the file system cannot sync a directory, or this user may
   * not read it. A loss of power may then take the file.
   */
  readonly mayBeLost?: boolean;
}

/** What says that a directory cannot be synced, and not that syncing it failed. */
const CANNOT_SYNC = ['EINVAL', 'ENOTSUP', 'EACCES'];

/** A file that is being written beside its place. Every error is one of the file system. */
export class DurableFile {
  /** A symbolic link here counts as a file: it is kept or replaced, and never followed. */
  readonly path: string;
  /** Where the content goes. */
  readonly temporary: string;
  readonly #descriptor: number;
  #isOpen = true;

  /** Makes the temporary file, empty. It stays open until it is in its place or discarded. */
  constructor(path: string) {
    this.path = path;
    this.temporary = temporaryName(path);
    this.#descriptor = openSync(this.temporary, 'wx', MODE);
  }

  /** Never by the name: in a directory that others may write to, another user's file can have it by now. */
  write(content: string | Uint8Array): void {
    writeFileSync(this.#descriptor, content);
  }

  /** Syncs the content and gives the file its name. */
  putInPlace({ replace, mayBeLost = false }: Placement): void {
    fsyncSync(this.#descriptor);
    if (replace) renameSync(this.temporary, this.path);
    else linkSync(this.temporary, this.path);
    this.discard();
    try {
      syncDirectory(dirname(this.path));
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!mayBeLost || !CANNOT_SYNC.includes(code)) throw error;
    }
  }

  /** Removes the temporary file, if it is still there. */
  discard(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
    rmSync(this.temporary, { force: true });
  }
}

/** Takes a name: makes an empty file for its owner alone. Throws an error with the code `EEXIST` if there is a file. */
export function makeEmptyFile(path: string): void {
  writeFileSync(path, '', { flag: 'wx', mode: MODE });
}

/** Writes `content` to `path`. If it throws, `path` is as it was, unless the directory alone could not be synced. */
export function writeDurably(
  path: string,
  content: string | Uint8Array,
  placement: Placement,
): void {
  const file = new DurableFile(path);
  try {
    file.write(content);
    file.putInPlace(placement);
  } finally {
    file.discard();
  }
}

/**
 * Makes a new file at `path`, with the content that `write` puts into the temporary file, and returns what `write`
 * returns. Throws what `write` throws, and `SetupError` if there is a file already or none can be made.
 */
export async function writeNewFile<T>(
  path: string,
  write: (temporary: string) => Promise<T>,
): Promise<T> {
  // Before the work: the copy of a large database takes seconds.
  if (existsSync(path)) throw exists(path);
  let file: DurableFile | undefined;
  try {
    file = new DurableFile(path);
    const result = await write(file.temporary);
    file.putInPlace({ replace: false });
    return result;
  } catch (error) {
    throw setupError(path, error);
  } finally {
    file?.discard();
  }
}

function setupError(path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  if (code === 'EEXIST') return exists(path);
  return new SetupError(`cannot write ${path}: ${writeFailure(error)}`);
}

function exists(path: string): SetupError {
  return new SetupError(
    `${path} exists, and is never replaced: move it away, or name another file`,
  );
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  ENOTDIR: 'there is no such directory',
  EISDIR: 'it is a directory',
  EEXIST: 'it exists',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left',
  EDQUOT: 'no space left',
};

/** Why a file cannot be written, in words. They name no path: that of the temporary file would mislead. */
export function writeFailure(error: unknown): string {
  const { code = '', syscall, message } = error as NodeJS.ErrnoException;
  if (code === 'EPERM' && syscall === 'link') {
    return 'permission denied, or a file system without hard links';
  }
  // Node's messages are such as "EIO: i/o error, fsync".
  return REASONS[code] ?? (syscall === undefined ? String(error) : message.replace(/, .*/s, ''));
}

/** In the directory of `path`. Long names are shortened, so that this one is no longer than a name may be. */
function temporaryName(path: string): string {
  const start = basename(path).slice(0, 50);
  return join(dirname(path), `${start}.${randomBytes(8).toString('hex')}.new`);
}

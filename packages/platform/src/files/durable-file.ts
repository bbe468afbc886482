/**
 * Writes files that are either complete or absent, and that survive loss of power.
 *
 * Each file is written under a temporary name in the same directory, with mode 0600, synced, and then moved
 * into place in one step. The directory is synced last. If that last sync fails, the error is thrown
 * although the complete file is in place.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncDirectory } from './sync.ts';

/** Only the owner may read these files: any of them may hold key material. */
const MODE = 0o600;

interface Placement {
  /**
   * If false, an existing file stays, and the error has the code `EEXIST`. This needs a file system with
   * hard links.
   */
  readonly replace: boolean;
  /**
   * For a file that can be made again: no error if the directory cannot be synced, because the file system
   * does not support it or this user may not read the directory. Loss of power may then remove the file.
   */
  readonly mayBeLost?: boolean;
  /** Permissions of a file without secrets. Default: only its owner may read and write it. */
  readonly mode?: number;
}

/** Errors which mean that a directory cannot be synced at all, not that a sync failed. */
const CANNOT_SYNC = ['EINVAL', 'ENOTSUP', 'EACCES'];

/**
 * A file that is written under a temporary name beside its final place. Every error comes from the file
 * system.
 */
export class DurableFile {
  /** The final name. A symbolic link here counts as a file: it is kept or replaced, never followed. */
  readonly path: string;
  /** Path of the temporary file, which receives the content. */
  readonly temporary: string;
  readonly #descriptor: number;
  #isOpen = true;

  /** Creates the temporary file, empty. It stays open until it is put in place or discarded. */
  constructor(path: string) {
    this.path = path;
    this.temporary = temporaryName(path);
    this.#descriptor = openSync(this.temporary, 'wx', MODE);
  }

  /**
   * Writes through the open file, never by name: in a directory that others can write to, another user's
   * file may have taken the name.
   */
  write(content: string | Uint8Array): void {
    writeFileSync(this.#descriptor, content);
  }

  /** Gives the file to a user, through the open file as well. */
  giveTo({ uid, gid }: { readonly uid: number; readonly gid: number }): void {
    fchownSync(this.#descriptor, uid, gid);
  }

  /** Gives the file other permissions, through the open file as well. */
  allow(mode: number): void {
    fchmodSync(this.#descriptor, mode);
  }

  /** Syncs the content and gives the file its final name, which is durable after a sync of the directory. */
  place({ replace }: Pick<Placement, 'replace'>): void {
    fsyncSync(this.#descriptor);
    if (replace) renameSync(this.temporary, this.path);
    else linkSync(this.temporary, this.path);
    this.discard();
  }

  /** Like `place`, and syncs the directory. */
  putInPlace({ replace, mayBeLost = false }: Placement): void {
    this.place({ replace });
    try {
      syncDirectory(dirname(this.path));
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!mayBeLost || !CANNOT_SYNC.includes(code)) throw error;
    }
  }

  /** Removes the temporary file if it still exists. */
  discard(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
    rmSync(this.temporary, { force: true });
  }
}

/**
 * Reserves a name: creates an empty file with mode 0600. Throws an error with the code `EEXIST` if the file
 * exists.
 */
export function makeEmptyFile(path: string): void {
  writeFileSync(path, '', { flag: 'wx', mode: MODE });
}

/**
 * Writes `content` to `path`. If it throws, `path` is unchanged, unless only the sync of the directory
 * failed.
 */
export function writeDurably(
  path: string,
  content: string | Uint8Array,
  placement: Placement,
): void {
  const file = new DurableFile(path);
  try {
    file.write(content);
    if (placement.mode !== undefined) file.allow(placement.mode);
    file.putInPlace(placement);
  } finally {
    file.discard();
  }
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
  EPIPE: 'its reader has closed it',
};

/**
 * Returns in words why a file cannot be written. The words name no path, because the temporary file's would
 * mislead.
 */
export function writeFailure(error: unknown): string {
  const { code = '', syscall, message } = error as NodeJS.ErrnoException;
  if (code === 'EPERM' && syscall === 'link') {
    return 'permission denied, or a file system without hard links';
  }
  // Node's messages look like "EIO: i/o error, fsync".
  return REASONS[code] ?? (syscall === undefined ? String(error) : message.replace(/, .*/s, ''));
}

/** A younger temporary file may belong to another process that is writing it. */
const LEFTOVER_MS = 60_000;

/** What follows the start of a temporary name. */
const TEMPORARY_END = /^[0-9a-f]{16}\.new$/;
const ANY_TEMPORARY = /\.[0-9a-f]{16}\.new$/;

/**
 * Removes the temporary files of `path` that killed processes left behind, as far as the file system lets it.
 */
export function removeLeftovers(path: string, nowMs: number): void {
  const directory = dirname(path);
  const start = temporaryStart(path);
  try {
    for (const name of readdirSync(directory)) {
      if (!name.startsWith(start) || !TEMPORARY_END.test(name.slice(start.length))) continue;
      const file = join(directory, name);
      if (nowMs - statSync(file).mtimeMs > LEFTOVER_MS) rmSync(file, { force: true });
    }
  } catch (error) {
    // Leftovers only take space.
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
  }
}

/** Returns the names of all temporary files in the directory, also of those in use; none if it cannot be read. */
export function temporaryFiles(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => ANY_TEMPORARY.test(name));
  } catch {
    return [];
  }
}

/**
 * Returns a name in the directory of `path`. It shortens a long name, so that the result stays within the
 * file system's limit.
 */
function temporaryName(path: string): string {
  return join(dirname(path), `${temporaryStart(path)}${randomBytes(8).toString('hex')}.new`);
}

const temporaryStart = (path: string): string => `${basename(path).slice(0, 50)}.`;

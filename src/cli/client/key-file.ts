/**
 * The file that a new key goes to. It is made before the key, empty, so that no key is made for nothing, and
 * is taken away again when there is none.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectory } from '../../files/sync.ts';
import { CommandError } from '../command-error.ts';

/** Only its owner reads a key. */
const MODE = 0o600;

export class KeyFile {
  readonly path: string;
  /** `path` itself, or the file that takes its place. */
  readonly #written: string;
  readonly #file: number;

  private constructor(path: string, written: string) {
    this.path = path;
    this.#written = written;
    this.#file = openSync(written, 'wx', MODE);
  }

  /** Makes the file, empty. Throws `CommandError` when there is one, but for a plain file with `replace`. */
  static claim(path: string, replace: boolean): KeyFile {
    try {
      const existing = lstatSync(path, { throwIfNoEntry: false });
      if (existing) assertReplaceable(path, existing, replace);
      return new KeyFile(path, existing ? `${path}.${randomUUID()}.new` : path);
    } catch (error) {
      throw error instanceof CommandError ? error : unwritable(path, error);
    }
  }

  /** Writes, syncs and puts in place; when that fails nothing is left, and an old file is as it was. */
  save(content: Uint8Array): void {
    try {
      try {
        writeFileSync(this.#file, content);
        fsyncSync(this.#file);
      } finally {
        closeSync(this.#file);
      }
      if (this.#written !== this.path) renameSync(this.#written, this.path);
      syncDirectory(dirname(this.path));
    } catch (error) {
      rmSync(this.#written, { force: true });
      throw unwritable(this.path, error);
    }
  }

  /** Takes the file away again. */
  discard(): void {
    closeSync(this.#file);
    rmSync(this.#written, { force: true });
  }
}

function assertReplaceable(path: string, existing: Stats, replace: boolean): void {
  if (!existing.isFile()) {
    throw new CommandError(`${path} exists and is no plain file: name another one`, 1);
  }
  if (!replace) {
    throw new CommandError(
      `${path} exists: name another file, or say --force to replace what is in it`,
      1,
    );
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
};

function unwritable(path: string, error: unknown): CommandError {
  const { code = String(error) } = error as NodeJS.ErrnoException;
  return new CommandError(`${path} cannot be written: ${REASONS[code] ?? code}`, 1);
}

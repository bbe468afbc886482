/**
 * The file that a new key goes to. Its name is taken by an empty file before the key is made, so that no key is made
 * for nothing. Without a key the empty file goes again.
 */
import { lstatSync, rmSync, type Stats } from 'node:fs';
import { DurableFile, makeEmptyFile } from '../../files/durable-file.ts';
import { CommandError, unwritable } from '../command-error.ts';

export class KeyFile {
  readonly path: string;
  readonly #file: DurableFile;
  /** Whether the file at `path` is the empty one; it is an old one that is to be replaced otherwise. */
  readonly #isClaimed: boolean;

  private constructor(path: string, isClaimed: boolean) {
    this.path = path;
    this.#file = new DurableFile(path);
    this.#isClaimed = isClaimed;
    if (isClaimed) this.#takeName();
  }

  /** Takes the name. Throws `CommandError` when there is a file, but for a plain one with `replace`. */
  static claim(path: string, replace: boolean): KeyFile {
    try {
      const existing = lstatSync(path, { throwIfNoEntry: false });
      if (existing) assertReplaceable(path, existing, replace);
      return new KeyFile(path, existing === undefined);
    } catch (error) {
      throw error instanceof CommandError ? error : unwritable(path, error);
    }
  }

  /** Writes, syncs and puts in place; when that fails nothing is left, and an old file is as it was. */
  save(content: Uint8Array): void {
    try {
      this.#file.write(content);
      this.#file.putInPlace({ replace: true });
    } catch (error) {
      this.discard();
      throw unwritable(this.path, error);
    }
  }

  /** Takes the file away again. */
  discard(): void {
    this.#file.discard();
    if (this.#isClaimed) rmSync(this.path, { force: true });
  }

  #takeName(): void {
    try {
      makeEmptyFile(this.path);
    } catch (error) {
      this.#file.discard();
      throw error;
    }
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

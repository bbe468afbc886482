/**
 * The file that a new key goes to. Its name is taken by an empty file before the key is made, so that no key is made
 * for nothing. Without a key the empty file goes again.
 */
import { lstatSync, rmSync, type Stats } from 'node:fs';
import { DurableFile, makeEmptyFile } from '../../files/durable-file.ts';
import { CommandError, unwritable } from '../command-error.ts';

export class KeyFile {
  readonly path: string;
  /** The empty file that holds the name; null where an old file is to be replaced. */
  readonly #claimed: Stats | null;
  /** Made at once beside an old file, to know before the key is made that it can be replaced. */
  #replacement: DurableFile | null = null;

  private constructor(path: string, isNew: boolean) {
    this.path = path;
    if (isNew) makeEmptyFile(path);
    else this.#replacement = new DurableFile(path);
    this.#claimed = isNew ? lstatSync(path) : null;
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

  /**
   * Writes, syncs and puts in place; when that fails nothing is left, and an old file is as it was. Throws
   * `CommandError`, also when another file has taken the name meanwhile.
   */
  save(content: Uint8Array): void {
    try {
      if (this.#claimed && !this.#holdsName(this.#claimed)) {
        throw new CommandError(`${this.path} was replaced by another file meanwhile`, 1);
      }
      this.#replacement ??= new DurableFile(this.path);
      this.#replacement.write(content);
      this.#replacement.putInPlace({ replace: true });
    } catch (error) {
      this.discard();
      throw error instanceof CommandError ? error : unwritable(this.path, error);
    }
  }

  /** Takes the file away again. */
  discard(): void {
    this.#replacement?.discard();
    if (this.#claimed && this.#holdsName(this.#claimed)) rmSync(this.path);
  }

  #holdsName({ dev, ino }: Stats): boolean {
    const now = lstatSync(this.path, { throwIfNoEntry: false });
    return now?.dev === dev && now.ino === ino && now.size === 0;
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

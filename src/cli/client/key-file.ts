/**
 * The file for a new key. An empty file claims the name before the key is generated, so that no key is
 * generated for a file that cannot be written. Without a key the empty file is removed.
 */

import { lstatSync, rmSync, type Stats } from 'node:fs';
import { CommandError, refuseForeignLink, unwritable } from '#platform/commands';
import { DurableFile, makeEmptyFile } from '#platform/files';

export class KeyFile {
  readonly path: string;
  /** The empty file that claims the name; null if an old file will be replaced. */
  readonly #claimed: Stats | null;
  /** Created beside an old file before the key is generated, which shows that the file can be replaced. */
  #replacement: DurableFile | null = null;

  private constructor(path: string, isNew: boolean) {
    this.path = path;
    if (isNew) makeEmptyFile(path);
    else this.#replacement = new DurableFile(path);
    this.#claimed = isNew ? lstatSync(path) : null;
  }

  /** Claims the name. Throws `CommandError` if it exists, unless it is a regular file and `replace` is set. */
  static claim(path: string, replace: boolean): KeyFile {
    refuseForeignLink(path);
    try {
      const existing = lstatSync(path, { throwIfNoEntry: false });
      if (existing) assertReplaceable(path, existing, replace);
      return new KeyFile(path, existing === undefined);
    } catch (error) {
      throw error instanceof CommandError ? error : unwritable(path, error);
    }
  }

  /**
   * Writes and syncs the content, then puts it in place. On failure nothing is left and an old file is
   * unchanged. Throws `CommandError`, also if another file has taken the name since.
   */
  save(content: Uint8Array): void {
    try {
      if (this.#claimed && !this.#holdsName(this.#claimed)) {
        throw new CommandError(
          `another file has replaced ${this.path} since the command started`,
          1,
        );
      }
      this.#replacement ??= new DurableFile(this.path);
      this.#replacement.write(content);
      this.#replacement.putInPlace({ replace: true });
    } catch (error) {
      this.discard();
      throw error instanceof CommandError ? error : unwritable(this.path, error);
    }
  }

  /** Removes the file. */
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
    throw new CommandError(`${path} exists and is not a regular file: name another file`, 1);
  }
  if (!replace) {
    throw new CommandError(
      `${path} exists: name another file, or use --force to replace its content`,
      1,
    );
  }
}

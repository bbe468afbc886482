/** A file of lines that the writer syncs to disk before it continues. */
import { type FileHandle, open } from 'node:fs/promises';

export class Journal {
  readonly #file: FileHandle;
  #waiting: string[] = [];
  #writing: Promise<void> | null = null;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<Journal> {
    return new Journal(await open(path, 'a', 0o600));
  }

  /** Resolves after the line is synced. Lines that arrive during a sync share the next one. */
  async append(line: unknown): Promise<void> {
    this.#waiting.push(`${JSON.stringify(line)}\n`);
    await this.#writing;
    if (this.#waiting.length > 0) this.#writing ??= this.#write();
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  async #write(): Promise<void> {
    const lines = this.#waiting.splice(0);
    try {
      await this.#file.appendFile(lines.join(''));
      await this.#file.datasync();
    } finally {
      this.#writing = null;
    }
  }
}

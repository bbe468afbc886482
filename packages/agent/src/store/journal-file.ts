/** The journal as a file of the state directory. */
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../../../platform/src/files/index.ts';
import type { JournalFile } from './journal.ts';

/** Only one process may use the directory: `store/lock.ts`. */
export class DirectoryJournal implements JournalFile {
  readonly #path: string;
  #file: FileHandle | null = null;

  constructor(directory: string, name = 'journal') {
    this.#path = join(directory, name);
  }

  async read(): Promise<string> {
    return readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
  }

  async append(text: string): Promise<void> {
    this.#file ??= await open(this.#path, 'a', 0o600);
    await this.#file.appendFile(text);
    await this.#file.datasync();
  }

  async replace(text: string): Promise<void> {
    await this.close();
    writeDurably(this.#path, text, { replace: true });
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}

/** A bound on reads of the log that need no API key. */
import { AppError } from '../../errors.ts';

/** Maximum number of reads in progress. They share a thread with the sequencer, so more would delay its turns. */
const MAX_READS = 64;

export class LogReads {
  #inProgress = 0;

  /** Does a read. Throws `overloaded` if too many are in progress. */
  async during<T>(read: () => Promise<T>): Promise<T> {
    if (this.#inProgress >= MAX_READS) {
      const detail = 'Too many reads of the transparency log are in progress.';
      throw new AppError('overloaded', { detail, remedy: 'Try again in {wait}.' });
    }
    this.#inProgress += 1;
    try {
      return await read();
    } finally {
      this.#inProgress -= 1;
    }
  }
}

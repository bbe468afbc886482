/** A noise source that a test controls: a FIFO, honest while the test feeds it random bytes. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A pipe takes this many bytes whole or not at all (PIPE_BUF), so draws stay aligned. */
const PART_BYTES = 4_096;

export class NoiseFifo {
  readonly path: string;
  #descriptor: number | null = null;

  /** Creates the FIFO and opens it. */
  constructor(directory: string) {
    this.path = join(directory, 'noise');
    this.create();
  }

  create(): void {
    execFileSync('mkfifo', [this.path]);
    this.plugIn();
  }

  /** Removes the path; readers that have it open reach its end. */
  remove(): void {
    rmSync(this.path);
    this.unplug();
  }

  /** Opens it for both directions, so that neither side waits for the other. */
  plugIn(): void {
    this.#descriptor = openSync(this.path, constants.O_RDWR | constants.O_NONBLOCK);
  }

  unplug(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  feedHonestly(): void {
    this.feed(randomBytes(PART_BYTES));
  }

  /** Writes as much of `bytes` as fits; readers take it at their own pace. */
  feed(bytes: Uint8Array): void {
    try {
      if (this.#descriptor !== null) writeSync(this.#descriptor, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

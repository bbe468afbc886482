/** A noise source in the hands of a test: a FIFO, honest while it is fed with random bytes. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What a pipe takes whole or not at all (PIPE_BUF), so that draws stay where they begin. */
const PART_BYTES = 4_096;

export class NoiseFifo {
  readonly path: string;
  #descriptor: number | null = null;

  /** Makes the FIFO and plugs it in. */
  constructor(directory: string) {
    this.path = join(directory, 'noise');
    this.create();
  }

  create(): void {
    execFileSync('mkfifo', [this.path]);
    this.plugIn();
  }

  /** The path is gone, and whoever has opened it reads the end. */
  remove(): void {
    rmSync(this.path);
    this.unplug();
  }

  /** Opened for both directions, so that neither side waits for the other. */
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

  /** Writes as much of `bytes` as fits: readers take it when they want it. */
  feed(bytes: Uint8Array): void {
    try {
      if (this.#descriptor !== null) writeSync(this.#descriptor, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

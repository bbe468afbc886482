/**
 * Writes log lines to a file descriptor without blocking the service. It drops lines that cannot be written (disk
 * full, reader gone), and lines beyond a limit while a slow reader keeps the descriptor busy. When writing works
 * again, it logs how many were dropped.
 */

import { write, writeSync } from 'node:fs';
import { visibleLine } from '#platform/terminal';
import { monotonicMs } from '../clock.ts';

const MAX_WAITING_BYTES = 2 ** 20;

/** Pause before a retry on a descriptor that was not ready. */
const RETRY_MS = 50;

/** Time for the last lines of a process that ends at once, and the pause between two attempts. */
const LAST_LIMIT_MS = 200;
const LAST_PAUSE_MS = 10;

/** Time for a write in progress in a process that ends at once. It takes microseconds, but its thread may have to wait for a processor. */
const IN_PROGRESS_MS = 200;

/** Time for which lines gather after a write. Under load, one write per request would cost as much as the request. */
const GATHER_MS = 20;

const EMPTY = Buffer.alloc(0);

export class LogWriter {
  readonly #descriptor: number;
  readonly #format: (line: string) => string;
  #waiting = '';
  #busy = false;
  /** A chunk that waits for its next attempt. */
  #refused: Buffer = EMPTY;
  /** Dropped lines that are not reported yet. `#lost` counts all of them. */
  #dropped = 0;
  #lost = 0;
  #gathering: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;

  /** `format` renders each line for its reader. By default it only escapes what a terminal would act on: `tail` shows logs. */
  constructor(descriptor: number, format: (line: string) => string = visibleLine) {
    this.#descriptor = descriptor;
    this.#format = format;
  }

  /** Queues one line of JSON, which ends with a newline. */
  write(json: string): void {
    const line = this.#format(json);
    if (this.#waiting.length + line.length > MAX_WAITING_BYTES) this.#drop();
    else this.#waiting += line;
    this.#pump();
  }

  /** Lines lost since startup; a failed write counts as one. */
  get lost(): number {
    return this.#lost;
  }

  /** Resolves when all lines are written, or after `limitMs`. */
  flush(limitMs: number): Promise<void> {
    this.#endGathering();
    if (!this.#busy) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Writes all lines before it returns, because the process is about to end. A slow reader may lose them. `wait` blocks this thread. */
  writeNow(wait: (ms: number) => void = pause): void {
    // A thread of Node's pool is writing. It cannot be awaited here, and what the process says last must follow.
    if (this.#busy && this.#refused === EMPTY) wait(IN_PROGRESS_MS);
    const rest = Buffer.concat([this.#refused, Buffer.from(this.#waiting)]);
    this.#refused = EMPTY;
    this.#waiting = '';
    writeAll(this.#descriptor, rest);
  }

  /** Writes the waiting lines, unless a write is in progress or has just ended. */
  #pump(): void {
    if (this.#busy || this.#gathering) return;
    if (this.#waiting === '') {
      this.#onIdle?.();
      return;
    }
    this.#busy = true;
    const chunk = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#put(chunk);
  }

  #put(chunk: Buffer): void {
    write(this.#descriptor, chunk, (error, written) => {
      if (error?.code === 'EAGAIN') {
        this.#refused = chunk;
        setTimeout(() => {
          this.#refused = EMPTY;
          this.#put(chunk);
        }, RETRY_MS);
        return;
      }
      if (!error && written < chunk.length) {
        this.#put(chunk.subarray(written));
        return;
      }
      if (error) this.#drop();
      else this.#reportDropped();
      this.#busy = false;
      if (this.#onIdle) this.#pump();
      else this.#gathering = setTimeout(() => this.#endGathering(), GATHER_MS);
    });
  }

  #endGathering(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#pump();
  }

  #drop(): void {
    this.#dropped += 1;
    this.#lost += 1;
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    const note = {
      level: 40,
      time: Date.now(),
      dropped: this.#dropped,
      msg: 'log lines were lost',
    };
    this.#dropped = 0;
    this.#waiting += this.#format(`${JSON.stringify(note)}\n`);
  }
}

/** Writes bytes, or as many as the descriptor takes in time. */
function writeAll(descriptor: number, bytes: Buffer): void {
  const endMs = monotonicMs() + LAST_LIMIT_MS;
  let rest = bytes;
  while (rest.length > 0 && monotonicMs() < endMs) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      pause(LAST_PAUSE_MS);
    }
  }
}

/** Blocks this thread. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Values that are read in the background: a page of metrics does not wait for a disk or a database that hangs. */
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../clock.ts';

/** Time that a page waits for a reading, from the start of the reading. */
const WAIT_MS = 250;

/** A value older than so many intervals is unknown. */
const MAX_INTERVALS = 3;

/** The last value of a slow reading. There is at most one reading at a time. */
export class Reading<T> {
  readonly #read: () => Promise<T | null>;
  readonly #intervalMs: number;
  #value: T | null = null;
  #valueMs = Number.NEGATIVE_INFINITY;
  #startMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  /** `read` resolves with null if the value is unknown, which a rejection means too. It starts once in `intervalMs` at most. */
  constructor(read: () => Promise<T | null>, intervalMs: number) {
    this.#read = read;
    this.#intervalMs = intervalMs;
  }

  /** Resolves with the last value; null if it is unknown or too old. */
  async value(): Promise<T | null> {
    if (!this.#reading && monotonicMs() - this.#startMs >= this.#intervalMs) this.#start();
    const waitMs = this.#startMs + WAIT_MS - monotonicMs();
    if (this.#reading && waitMs > 0) {
      await Promise.race([this.#reading, delay(waitMs, undefined, { ref: false })]);
    }
    const isOld = monotonicMs() - this.#valueMs > MAX_INTERVALS * this.#intervalMs;
    return isOld ? null : this.#value;
  }

  #start(): void {
    this.#startMs = monotonicMs();
    this.#reading = this.#read()
      .catch(() => null)
      .then((value) => {
        this.#value = value;
        this.#valueMs = monotonicMs();
        this.#reading = null;
      });
  }
}

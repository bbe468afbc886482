/** How long to wait for a service, and between attempts. */
import type { Clock } from '../clock.ts';

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** Waits between attempts that fail: twice as long each time, up to half a minute. */
export class Patience {
  readonly #clock: Clock;
  #nextMs = FIRST_MS;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  succeeded(): void {
    this.#nextMs = FIRST_MS;
  }

  /** A random part of the wait keeps agents apart that lost the same service. */
  async failed(signal: AbortSignal): Promise<void> {
    const ms = this.#nextMs * (0.5 + Math.random() / 2);
    this.#nextMs = Math.min(LONGEST_MS, this.#nextMs * 2);
    await this.#clock.sleep(ms, signal);
  }
}

/** Runs `work` with a signal that aborts after `ms`, and with `signal`. */
export async function within<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const late = new AbortController();
  const timer = clock.sleep(ms, AbortSignal.any([signal, done.signal])).then(() => late.abort());
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    done.abort();
    await timer;
  }
}

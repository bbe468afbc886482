/** Time that a test moves: sleepers wake in the order of their times, and each acts before the next wakes. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/clock.ts';

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

export class SimulatedClock implements Clock {
  #nowMs = Date.UTC(2026, 0, 1);
  readonly #sleepers = new Set<Sleeper>();

  nowMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper: Sleeper = { atMs: this.#nowMs + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', wake);
    });
  }

  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await turn();
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.wake();
      await turn();
    }
    this.#nowMs = endMs;
  }

  /** Advances until a promise is settled. */
  async settle<T>(promise: Promise<T>, limitMs = 120_000): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await turn();
    for (let i = 0; i < limitMs / 50 && !isSettled; i += 1) await this.advance(50);
    if (!isSettled) throw new Error(`not settled within ${limitMs} ms of simulated time`);
    return promise;
  }

  #next(endMs: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.atMs <= endMs && (first === undefined || sleeper.atMs < first.atMs))
        first = sleeper;
    }
    return first;
  }
}

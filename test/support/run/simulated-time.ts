/**
 * Time that a test sets: the timers of this thread, its monotonic clocks and its wall clock. Code that waits is then tested
 * by what it does at which moment, whatever the machine does meanwhile.
 */
import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

/** Turns of the event loop for what follows a timer: promises, and immediates that follow each other. */
const TURNS = 3;

export class SimulatedTime {
  readonly #test: TestContext;
  #nowMs = 0;

  /** Stands still until the end of the test, except for `pass`, `advance` and `until`. */
  constructor(test: TestContext) {
    this.#test = test;
    test.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.now() });
    test.mock.method(performance, 'now', () => this.#nowMs);
    test.mock.method(process.hrtime, 'bigint', () => BigInt(Math.round(this.#nowMs * 1e6)));
    // Modules that import a timer by name get the simulated one too.
    syncBuiltinESMExports();
    test.after(() => {
      test.mock.reset();
      syncBuiltinESMExports();
    });
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Lets time pass in which no timer is served, as when the thread is busy. */
  pass(ms: number): void {
    this.#nowMs += ms;
  }

  /** Lets time pass millisecond by millisecond, with everything that happens meanwhile. */
  async advance(ms: number): Promise<void> {
    await turns();
    for (let i = 0; i < ms; i += 1) {
      this.#nowMs += 1;
      this.#test.mock.timers.tick(1);
      await turns();
    }
  }

  /** Advances until `check` is true. Returns the milliseconds, and fails above `limitMs`. */
  async until(what: string, check: () => boolean, limitMs = 10_000): Promise<number> {
    const startMs = this.#nowMs;
    await turns();
    while (!check()) {
      assert.ok(this.#nowMs - startMs < limitMs, `not within ${limitMs} ms: ${what}`);
      await this.advance(1);
    }
    return this.#nowMs - startMs;
  }

  /** Advances until a promise is settled. Returns its value, and fails above `limitMs`. */
  async settle<T>(promise: Promise<T>, limitMs = 10_000): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await this.until('a promise is settled', () => isSettled, limitMs);
    return promise;
  }
}

async function turns(): Promise<void> {
  for (let i = 0; i < TURNS; i += 1) await turn();
}

/**
 * Starts one piece of work in each turn of the event loop. Work that blocks the thread then lets messages that came
 * meanwhile be handled before the next piece.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Runs `work` when all earlier work has started. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => work().then(resolve, reject));
      if (this.#waiting.length === 1) setImmediate(() => this.#next());
    });
  }

  #next(): void {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}

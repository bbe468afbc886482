/**
 * Remembers failures of the gate over many verdicts: a leaky bucket in one word, which threads may share.
 *
 * A failure adds 1,000 and a pass takes 1 away, so the third failure within some 1,000 verdicts fills it. A generator that
 * fails more often than once in 1,000 verdicts fills it sooner or later.
 */

const FAILURE = 1_000;
const LIMIT = 2 * FAILURE;

export class FailureTally {
  readonly #word: Int32Array;

  /** One word, 0 at the start. */
  constructor(word: Int32Array = new Int32Array(1)) {
    this.#word = word;
  }

  /** Counts a verdict. Returns whether it is a failure that is one too many. */
  count(passed: boolean): boolean {
    for (;;) {
      const before = Atomics.load(this.#word, 0);
      const after = passed ? Math.max(0, before - 1) : before + FAILURE;
      if (Atomics.compareExchange(this.#word, 0, before, after) === before) {
        return !passed && after > LIMIT;
      }
    }
  }
}

/**
 * Counts failures of the gate over many verdicts: a leaky bucket in one word that threads may share.
 *
 * A failure adds 1,000 and a pass subtracts 1, so the third failure within about 1,000 verdicts fills the bucket. A
 * generator that fails more often than once in 1,000 verdicts fills it soon, and one that fails less often only by
 * chance.
 */

const FAILURE = 1_000;
const LIMIT = 2 * FAILURE;

export class FailureTally {
  readonly #word: Int32Array;

  /** `word` is one word that starts at 0. */
  constructor(word: Int32Array = new Int32Array(1)) {
    this.#word = word;
  }

  /** Counts a verdict. Returns true if it is a failure that fills the bucket. */
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

/** The repetition count test: NIST SP 800-90B §4.4.1. It sees a source that is stuck at one value. */
import type { Alarm, Levels } from './levels.ts';

export class RepetitionCountTest {
  readonly #cutoffs: Levels;
  // §4.4.1's A, the symbol of the present run, and B, its length so far. −1 is no symbol.
  #A = -1;
  #B = 0;

  constructor(cutoffs: Levels) {
    this.#cutoffs = cutoffs;
  }

  /** Takes `samples` into account; the worst alarm among them, by its index in `samples`. */
  check(samples: Uint8Array): Alarm | null {
    const { intermittent, permanent } = this.#cutoffs;
    // §4.4's C: the cutoff of the first level, and once that is met of the second.
    let C = intermittent;
    let alarm: Alarm | null = null;
    let A = this.#A;
    let B = this.#B;
    for (let sample = 0; sample < samples.length; sample++) {
      const X = samples[sample];
      if (X !== A) {
        A = X;
        B = 1;
        continue;
      }
      B += 1;
      if (B >= C) {
        alarm = { level: B >= permanent ? 'permanent' : 'intermittent', sample };
        C = B >= permanent ? Infinity : permanent;
      }
    }
    this.#A = A;
    this.#B = B;
    return alarm;
  }

  /** Forgets the run. */
  reset(): void {
    this.#A = -1;
    this.#B = 0;
  }
}

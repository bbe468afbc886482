/**
 * The repetition count test: NIST SP 800-90B §4.4.1. It detects a source that is stuck at one
 * value.
 */
import type { Alarm, Levels } from './levels.ts';

export class RepetitionCountTest {
  readonly #cutoffs: Levels;
  // §4.4.1's A: the symbol of the current run, −1 for none; B: its length so far.
  #A = -1;
  #B = 0;

  constructor(cutoffs: Levels) {
    this.#cutoffs = cutoffs;
  }

  /** Tests `samples` and returns the worst alarm, with an index in `samples`, or null. */
  check(samples: Uint8Array): Alarm | null {
    const { intermittent, permanent } = this.#cutoffs;
    // §4.4's C: the cutoff of the intermittent level, and once that is reached, of the permanent
    // one.
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

  /** Discards the run. */
  reset(): void {
    this.#A = -1;
    this.#B = 0;
  }
}

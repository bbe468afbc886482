/**
 * The adaptive proportion test: NIST SP 800-90B §4.4.2. It detects a source in which one symbol has
 * become too frequent.
 */
import type { Alarm, Levels } from './levels.ts';

export class AdaptiveProportionTest {
  readonly #cutoffs: Levels;
  readonly #windowSamples: number;
  // §4.4.2's A: the first symbol of the window; B: its count so far; i: samples since the start of
  // the window.
  #A = 0;
  #B = 0;
  #i = 0;

  constructor(cutoffs: Levels, windowSamples: number) {
    this.#cutoffs = cutoffs;
    this.#windowSamples = windowSamples;
  }

  /** Tests `samples` and returns the worst alarm, with an index in `samples`, or null. */
  check(samples: Uint8Array): Alarm | null {
    const { intermittent, permanent } = this.#cutoffs;
    const W = this.#windowSamples;
    // §4.4's C: the cutoff of the intermittent level, and once that is reached, of the permanent
    // one.
    let C = intermittent;
    let alarm: Alarm | null = null;
    let A = this.#A;
    let B = this.#B;
    let i = this.#i;
    for (let sample = 0; sample < samples.length; sample++) {
      const X = samples[sample];
      if (i === 0) {
        // Steps 1 and 2: the first sample of a window is the counted symbol, and counts itself.
        A = X;
        B = 1;
      } else if (X === A) {
        // Step 3.
        B += 1;
        if (B >= C) {
          alarm = { level: B >= permanent ? 'permanent' : 'intermittent', sample };
          C = B >= permanent ? Infinity : permanent;
        }
      }
      // Step 4: windows do not overlap.
      i = i + 1 === W ? 0 : i + 1;
    }
    this.#A = A;
    this.#B = B;
    this.#i = i;
    return alarm;
  }

  /** Discards the window. */
  reset(): void {
    this.#A = 0;
    this.#B = 0;
    this.#i = 0;
  }
}

/**
 * The adaptive proportion test: NIST SP 800-90B §4.4.2. It sees a source in which one symbol has
 * become too frequent.
 */
import type { Alarm, Levels } from './levels.ts';

export class AdaptiveProportionTest {
  readonly #cutoffs: Levels;
  readonly #windowSamples: number;
  // §4.4.2's A, the first symbol of the window, B, how often it was met, and i, the samples since.
  #A = 0;
  #B = 0;
  #i = 0;

  constructor(cutoffs: Levels, windowSamples: number) {
    this.#cutoffs = cutoffs;
    this.#windowSamples = windowSamples;
  }

  /** Takes `samples` into account; the worst alarm among them, by its index in `samples`. */
  check(samples: Uint8Array): Alarm | null {
    const { intermittent, permanent } = this.#cutoffs;
    const W = this.#windowSamples;
    // §4.4's C: the cutoff of the first level, and once that is met of the second.
    let C = intermittent;
    let alarm: Alarm | null = null;
    let A = this.#A;
    let B = this.#B;
    let i = this.#i;
    for (let sample = 0; sample < samples.length; sample++) {
      const X = samples[sample];
      if (i === 0) {
        // Steps 1 and 2: the first sample of a window is the symbol to count, and is counted.
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
      // Step 4: windows follow one another without overlap.
      i = i + 1 === W ? 0 : i + 1;
    }
    this.#A = A;
    this.#B = B;
    this.#i = i;
    return alarm;
  }

  /** Forgets the window. */
  reset(): void {
    this.#A = 0;
    this.#B = 0;
    this.#i = 0;
  }
}

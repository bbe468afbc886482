/**
 * The health tests of raw noise: NIST SP 800-90B §4.4, both tests at two levels.
 *
 * Every sample passes through them before it is used. The caller decides what follows from a
 * verdict.
 */
import {
  assertInteger,
  assertNumber,
  assertObject,
  assertUint8Array,
} from '../../../sp800-22/src/arguments.ts';
import { AdaptiveProportionTest } from './adaptive-proportion.ts';
import {
  adaptiveProportionCutoff,
  adaptiveProportionWindow,
  repetitionCountCutoff,
} from './cutoffs.ts';
import { ALPHA_LOG2, type Alarm, type AlarmLevel, type Levels, worse } from './levels.ts';
import { RepetitionCountTest } from './repetition-count.ts';

/** §4.3: the startup test covers at least 1,024 consecutive samples. */
export const START_UP_SAMPLES = 1024;

type NoiseTestName = 'repetition count' | 'adaptive proportion';

export type NoiseVerdict =
  | { readonly level: 'passed' }
  | {
      readonly level: AlarmLevel;
      readonly test: NoiseTestName;
      /** Index of the sample at which the test failed, counted from the last reset. */
      readonly sample: number;
    };

export interface NoiseTestsOptions {
  /** Bits per symbol, 1…8. */
  readonly bitsPerSample: number;
  /** Min-entropy in bits per sample, 0 < H ≤ bitsPerSample. */
  readonly minEntropyPerSample: number;
}

export class NoiseTests {
  readonly #bitsPerSample: number;
  readonly #repetitionCount: RepetitionCountTest;
  readonly #adaptiveProportion: AdaptiveProportionTest;
  #samplesBefore = 0;

  /** Throws `RangeError` on an invalid symbol size or entropy. */
  constructor(options: NoiseTestsOptions) {
    // Further members are no mistake: a source of noise describes itself.
    assertObject('options', options, 'bitsPerSample', 'minEntropyPerSample');
    const { bitsPerSample, minEntropyPerSample: H } = options;
    assertInteger('bitsPerSample', bitsPerSample, 1, 8);
    const expected = `a number above 0 and up to ${bitsPerSample}`;
    assertNumber('minEntropyPerSample', H, expected, (one) => one > 0 && one <= bitsPerSample);
    const W = adaptiveProportionWindow(bitsPerSample);
    this.#bitsPerSample = bitsPerSample;
    this.#repetitionCount = new RepetitionCountTest(
      atBothLevels((alphaLog2) => repetitionCountCutoff(alphaLog2, H)),
    );
    this.#adaptiveProportion = new AdaptiveProportionTest(
      atBothLevels((alphaLog2) => adaptiveProportionCutoff(alphaLog2, H, W)),
      W,
    );
  }

  /**
   * Tests all of `samples` and returns the worst verdict. Runs and windows continue from one batch
   * to the next. Throws `RangeError` on a symbol of 2^bitsPerSample or above.
   */
  check(samples: Uint8Array): NoiseVerdict {
    assertUint8Array('samples', samples);
    this.#assertSymbols(samples);
    const first = this.#samplesBefore;
    this.#samplesBefore += samples.length;
    const alarm = worse(
      named('repetition count', this.#repetitionCount.check(samples)),
      named('adaptive proportion', this.#adaptiveProportion.check(samples)),
    );
    return alarm === null ? { level: 'passed' } : { ...alarm, sample: first + alarm.sample };
  }

  /** Restarts the tests and discards all samples so far. */
  reset(): void {
    this.#repetitionCount.reset();
    this.#adaptiveProportion.reset();
    this.#samplesBefore = 0;
  }

  #assertSymbols(samples: Uint8Array): void {
    let union = 0;
    for (let i = 0; i < samples.length; i++) union |= samples[i];
    if (union >> this.#bitsPerSample !== 0) {
      throw new RangeError(
        `"samples" expected symbols below 2^${this.#bitsPerSample}, got a greater one`,
      );
    }
  }
}

function atBothLevels(cutoff: (alphaLog2: number) => number): Levels {
  return {
    intermittent: cutoff(ALPHA_LOG2.intermittent),
    permanent: cutoff(ALPHA_LOG2.permanent),
  };
}

function named(test: NoiseTestName, alarm: Alarm | null) {
  return alarm && { test, ...alarm };
}

/**
 * Discrete Fourier transform (spectral) test. SP 800-22 Rev. 1a §2.6, §3.6.
 *
 * Are there periodic features: peaks in the spectrum of the sequence?
 */

import { assertOptions, type Members } from '../arguments.ts';
import { CONSTANTS, type Constants, DFT_T2_OVER_N } from '../constants.ts';
import type { TestDefinition } from '../definition.ts';
import { assertLengthBits, type TestResult } from '../result.ts';
import { erfc } from '../special-functions.ts';
import { measurePeaks } from './peaks.ts';

export const dftTest: TestDefinition = {
  // §2.6.7.
  minimumBits: 1000,
  run: (bits, { constants }) => dft(bits, { constants }),
  count: (counts, { constants }) => {
    const N_1 = counts.peaksBelow(thresholdSquared(counts.n, constants));
    return judgeDft(counts.n, N_1, constants);
  },
  parameters: (_, constants) => ({ T2_over_n: DFT_T2_OVER_N[constants] }),
};

interface DftOptions {
  readonly constants?: Constants;
}

const OPTIONS: Members<DftOptions> = { constants: CONSTANTS };

export function dft(bits: Uint8Array, options: DftOptions = {}): TestResult {
  assertOptions('options', options, OPTIONS);
  const { constants = 'exact' } = options;
  assertLengthBits(bits, 2);
  return judgeDft(
    bits.length,
    measurePeaks(bits, thresholdSquared(bits.length, constants)).below,
    constants,
  );
}

/** Step 4: returns the square of T = √(n ln(1/0.05)), which 95 % of the peaks should not exceed. */
export function thresholdSquared(n: number, constants: Constants): number {
  return n * DFT_T2_OVER_N[constants];
}

/** Computes the test from N_1 of `n` bits. */
export function judgeDft(n: number, N_1: number, constants: Constants): TestResult {
  // Step 5: N_0 = 0.95 n/2, also for odd n.
  const N_0 = (0.95 * n) / 2;

  // Step 7: d = (N_1 − N_0) / √(n · 0.95 · 0.05 / 4). At these lengths simulation gives a divisor nearer to
  // 3.8 than to 4; the code keeps the standard's 4.
  const d = (N_1 - N_0) / Math.sqrt((n * 0.95 * 0.05) / 4);

  // Step 8: p = erfc(|d| / √2).
  return {
    pValues: [erfc(Math.abs(d) * Math.SQRT1_2)],
    statistics: { N_1, N_0, d, T: Math.sqrt(thresholdSquared(n, constants)) },
  };
}

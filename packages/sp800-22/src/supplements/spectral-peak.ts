/**
 * The largest spectral peak. A supplement: not part of SP 800-22.
 *
 * Is one frequency too strong? The spectral test of §2.6 counts peaks above a threshold, and misses a single high one.
 * For a sound source |S_k|² / n is nearly exponential with mean 1, and nearly independent for different k. The bins 0
 * and n/2, which have another law, are left out.
 */
import type { SupplementDefinition } from '../definition.ts';
import { exp, expm1, log1p } from '../elementary.ts';
import { assertLengthBits, type TestResult } from '../result.ts';
import { thresholdSquared } from '../tests/dft.ts';
import { measurePeaks } from '../tests/peaks.ts';

/**
 * Our choice. With 1,000 bits, 8.7 % instead of 10 % of the p-values of sound sequences are above 0.9
 * (docs/evidence/supplements.txt).
 */
const MINIMUM_BITS = 10_240;

export const spectralPeakSupplement: SupplementDefinition = {
  minimumBits: MINIMUM_BITS,
  run: spectralPeak,
  count: (counts) => {
    // The same transform as that of the spectral test.
    const { k, squared } = counts.largestPeak(thresholdSquared(counts.n, 'exact'));
    return judgeSpectralPeak(counts.n, k, squared);
  },
  // With a normal g of two dimensions, E exp(t |S_k|²/n) = E exp(√(2t/n) g · S_k) ≤ E exp(t |g|²/2) = 1 / (1 − t), as cos²
  // and sin² sum to n/2 for 0 < k < n/2. So P(|S_k|²/n ≥ x) ≤ x e^(1 − x) (Chernoff).
  bound: ({ bins, power }) =>
    Math.min(1, Number(bins) * (Number(power) <= 1 ? 1 : Number(power) * exp(1 - Number(power)))),
};

function spectralPeak(bits: Uint8Array): TestResult {
  assertLengthBits(bits, MINIMUM_BITS);
  const { k, squared } = measurePeaks(bits, 0).largest;
  return judgeSpectralPeak(bits.length, k, squared);
}

/** Significant digits of the power. Sines and transforms of different engines agree to about 14; reports must be equal. */
const DIGITS = 9;

/** Computes the result from the largest |S_k|², 0 < k < n/2. */
export function judgeSpectralPeak(n: number, k: number, squared: number): TestResult {
  const bins = Math.ceil(n / 2) - 1;
  const x = Number((squared / n).toPrecision(DIGITS));
  // The maximum of independent exponentials: P(max ≥ x) = 1 − (1 − e^(−x))^bins.
  const p = 0 - expm1(bins * log1p(-exp(-x)));
  return { pValues: [p], statistics: { bins, k, power: x } };
}

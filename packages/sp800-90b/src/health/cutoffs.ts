/**
 * Cutoffs of the continuous health tests: NIST SP 800-90B, Recommendation for the Entropy Sources
 * Used for Random Bit Generation, §4.4. https://doi.org/10.6028/NIST.SP.800-90B
 *
 * H is the min-entropy of a sample in bits: no symbol is more probable than 2^-H. α is the
 * probability that a run or a window of such samples is a false alarm.
 */

/** §4.4.1: C = 1 + ⌈−log2 α / H⌉. A run of C equal samples has a probability of at most α. */
export function repetitionCountCutoff(alphaLog2: number, H: number): number {
  assertAlpha(alphaLog2);
  assertEntropy(H);
  return 1 + Math.ceil(-alphaLog2 / H);
}

/** §4.4.2: the window is 1,024 samples for a binary source, 512 for any other. */
export function adaptiveProportionWindow(bitsPerSample: number): number {
  return bitsPerSample === 1 ? 1024 : 512;
}

/**
 * §4.4.2, corrected: C = 2 + qbinom(1 − α, W − 1, 2^-H), at most W.
 *
 * The text prints C = 1 + critbinom(W, 2^-H, 1 − α), as if all W samples could match. The first
 * sample is the counted symbol and always matches, so a false alarm needs C − 1 matches among the
 * other W − 1 samples. The printed cutoff is the same or lower by one. If it is lower, its false alarms
 * are more frequent than α.
 *
 * At small H even W equal samples are more probable than α. The cutoff is then W, because a higher
 * one is unreachable (FIPS 140-2 Implementation Guidance 7.19). False alarms of such sources have a
 * probability of 2^(−H(W−1)) > α.
 */
export function adaptiveProportionCutoff(
  alphaLog2: number,
  H: number,
  windowSamples: number,
): number {
  if (!Number.isInteger(windowSamples) || windowSamples < 2) {
    throw new RangeError(`"windowSamples" expected an integer of at least 2, got ${windowSamples}`);
  }
  return Math.min(windowSamples, 1 + rareCount(alphaLog2, H, windowSamples - 1));
}

/**
 * Returns the least k with P(X ≥ k) ≤ α for X ~ Binomial(trials, 2^-H): 1 + critbinom(trials, 2^-H,
 * 1 − α), or trials + 1 if there is none.
 *
 * The tail is summed from its far end, where its terms are smallest. A quantile of the lower tail
 * is useless, because 1 − 2^-60 is 1 in a double.
 */
export function rareCount(alphaLog2: number, H: number, trials: number): number {
  assertAlpha(alphaLog2);
  assertEntropy(H);
  const alpha = 2 ** alphaLog2;
  // log2((1 − p) / p) with p = 2^-H. `expm1` keeps the digits of 1 − p when p is near 1.
  const oddsLog2 = Math.log2(-Math.expm1(-H * Math.LN2)) + H;
  // P(X = k) as log2, from k = trials downwards, because it can be far below the least double.
  let termLog2 = -H * trials;
  let tail = 0;
  for (let k = trials; k >= 0; k--) {
    tail += 2 ** termLog2;
    if (tail > alpha) return k + 1;
    termLog2 += Math.log2(k / (trials - k + 1)) + oddsLog2;
  }
  return 0;
}

function assertAlpha(alphaLog2: number): void {
  if (!(alphaLog2 < 0 && alphaLog2 >= -1000)) {
    throw new RangeError(`"alphaLog2" expected a number from -1000 to below 0, got ${alphaLog2}`);
  }
}

function assertEntropy(H: number): void {
  if (!(H > 0 && H < Infinity)) throw new RangeError(`"H" expected a number above 0, got ${H}`);
}

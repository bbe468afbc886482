/** What the estimators of SP 800-90B §6.3 have in common: their results, and their confidence bound. */

/** A figure that an estimator came to; each adds the intermediate values of its steps. */
export interface Estimate {
  readonly applicable: true;
  /** Bits a symbol. */
  readonly minEntropy: number;
}

/** An estimator that cannot say anything about this input, and so does not count. */
export interface NotApplicable {
  readonly applicable: false;
  readonly reason: string;
}

export function notApplicable(reason: string): NotApplicable {
  return { applicable: false, reason };
}

/**
 * Z_(1−0.005), for one end of a 99 % confidence interval. NIST's text rounds it to 2.576; its
 * program uses these digits, and so do we.
 */
export const Z_99 = 2.5758293035489008;

/** §6.3.1 step 2 and its like: the upper end of the interval for a proportion of `trials` trials. */
export function upperBound(pHat: number, trials: number): number {
  return Math.min(1, pHat + Z_99 * Math.sqrt((pHat * (1 - pHat)) / (trials - 1)));
}

/** −log2(p), without the −0 of p = 1. */
export function minEntropyOf(p: number): number {
  return 0 - Math.log2(p);
}

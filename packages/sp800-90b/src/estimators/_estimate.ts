/**
 * The common part of the estimators of SP 800-90B §6.3: their results and their confidence bound.
 */
import { log2 } from '../../../sp800-22/src/elementary.ts';

/** The result of an estimator. Each estimator adds the intermediate values of its steps. */
export interface Estimate {
  readonly applicable: true;
  /** Min-entropy in bits per symbol. */
  readonly minEntropy: number;
}

/** The result of an estimator that does not apply to this input, and so does not count. */
export interface NotApplicable {
  readonly applicable: false;
  readonly reason: string;
}

export function notApplicable(reason: string): NotApplicable {
  return { applicable: false, reason };
}

/**
 * Z_(1−0.005), for one end of a 99 % confidence interval. NIST's text rounds it to 2.576; this code
 * uses the digits of NIST's program.
 */
export const Z_99 = 2.5758293035489008;

/**
 * Returns the upper end of the interval for a proportion of `trials` trials (§6.3.1 step 2 and
 * similar steps).
 */
export function upperBound(pHat: number, trials: number): number {
  return Math.min(1, pHat + Z_99 * Math.sqrt((pHat * (1 - pHat)) / (trials - 1)));
}

/** Returns −log2(p), and 0 instead of −0 for p = 1. */
export function minEntropyOf(p: number): number {
  return 0 - log2(p);
}

/** The common last steps of the four predictors of SP 800-90B §6.3.7 to §6.3.10. */
import { exp, log, log1p, power } from '../../../sp800-22/src/elementary.ts';
import { type Estimate, minEntropyOf, upperBound } from './_estimate.ts';

/**
 * Probability, at P_local, that no run of correct predictions is as long as the longest observed.
 */
const NO_LONGER_RUN = 0.99;

/**
 * Limit for the iteration for x. The text takes 10 steps; NIST's program continues up to this
 * limit.
 */
const MAX_ITERATIONS = 66;

export interface PredictionEstimate extends Estimate {
  /** C: correct predictions. */
  readonly correct: number;
  /** r: one more than the longest run of correct predictions. */
  readonly r: number;
  /** N: predictions. */
  readonly predictions: number;
  readonly pGlobal: number;
  readonly pGlobalUpper: number;
  /** Null if it is below P'_global or 1/k, where it cannot change the result. */
  readonly pLocal: number | null;
}

/** Counts correct predictions and their longest run. */
export class PredictionTally {
  correct = 0;
  longestRun = 0;
  #run = 0;

  add(isCorrect: boolean): void {
    if (isCorrect) {
      this.correct++;
      this.#run++;
      if (this.#run > this.longestRun) this.longestRun = this.#run;
    } else {
      this.#run = 0;
    }
  }
}

/**
 * Computes the last steps, the same in the four sections: the bounds P'_global and P_local, and
 * 1/k.
 */
export function predictionEstimate(
  { correct, longestRun }: PredictionTally,
  predictions: number,
  alphabetSize: number,
): PredictionEstimate {
  const pGlobal = correct / predictions;
  const pGlobalUpper =
    correct === 0 ? 1 - power(0.01, 1 / predictions) : upperBound(pGlobal, predictions);
  const r = longestRun + 1;
  const known = Math.max(pGlobalUpper, 1 / alphabetSize);
  // As in NIST's program: the result is the greatest of the three, so P_local is not computed if it
  // is below the other two. The text always computes it.
  const matters = known < 1 && logNoRun(known, r, predictions) > log(NO_LONGER_RUN);
  const pLocal = matters ? solveForPLocal(known, r, predictions) : null;
  const minEntropy = minEntropyOf(Math.max(known, pLocal ?? 0));
  return { applicable: true, correct, r, predictions, pGlobal, pGlobalUpper, pLocal, minEntropy };
}

/**
 * Finds P_local above `low` by bisection down to neighbouring numbers. The probability falls as p
 * rises.
 */
function solveForPLocal(low: number, r: number, predictions: number): number {
  let high = 1;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) return high;
    if (logNoRun(middle, r, predictions) > log(NO_LONGER_RUN)) low = middle;
    else high = middle;
  }
}

/**
 * Returns ln of the probability of no run of `r` successes, each of probability p: Feller's (1 −
 * px) / ((r + 1 − rx)·q·x^(N+1)), where x is the root of 1 − x + q·p^r·x^(r+1) near 1.
 *
 * With x = 1 + e it is (1 − pe/q) / ((1 − re)·(1 + e)^(N+1)). Nothing cancels in e, while NIST's
 * program needs numbers of 80 bits for the same digits.
 */
function logNoRun(p: number, r: number, predictions: number): number {
  const q = 1 - p;
  const scale = q * power(p, r);
  let e = 0;
  for (let i = 0; i < MAX_ITERATIONS; i++) {
    const next = scale * exp((r + 1) * log1p(e));
    if (next <= e) break;
    e = next;
  }
  return log1p((-p * e) / q) - log1p(-r * e) - (predictions + 1) * log1p(e);
}

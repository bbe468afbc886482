/**
 * T3 and T4 of T_irn: two prediction estimates of NIST SP 800-90B on bits, by the predictors of the package sp800-90b.
 * Each must find at least 0.95 bits of min-entropy a bit.
 */
import type { NotApplicable } from '../../../sp800-90b/src/estimators/_estimate.ts';
import type { PredictionEstimate } from '../../../sp800-90b/src/estimators/_prediction.ts';
import type { ElementaryTest, TestName } from '../result.ts';

const LEAST_MIN_ENTROPY = 0.95;

/** Returns the outcome of a test that an estimate decides. It applies: only a few bits are too few for a predictor. */
export function prediction(
  name: TestName,
  estimate: PredictionEstimate | NotApplicable,
): Omit<ElementaryTest, 'on'> {
  const { minEntropy, correct, predictions, r } = estimate as PredictionEstimate;
  return {
    name,
    statistics: { min_entropy: minEntropy, correct, predictions, longest_run: r - 1 },
    limit: `min-entropy ≥ ${LEAST_MIN_ENTROPY}`,
    passed: minEntropy >= LEAST_MIN_ENTROPY,
  };
}

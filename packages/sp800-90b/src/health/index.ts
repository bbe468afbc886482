/** What a running service needs: the health tests, and the one estimator without a long computation. */
export { mostCommonValueMinEntropy } from '../estimators/most-common-value.ts';
export { NoiseTests, type NoiseVerdict, START_UP_SAMPLES } from './noise-tests.ts';

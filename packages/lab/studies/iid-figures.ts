/** The figures and verdicts of the IID track that NIST's program prints, too. */
import { type IidAssessment, STATISTIC_NAMES } from '../../sp800-90b/src/index.ts';

export type Figures = Record<string, number | boolean>;

/** Returns the figures and verdicts by our names, as test/vectors/sp800-90b/ea-iid.json has them. */
export function figuresOf(assessment: IidAssessment): Figures {
  const { hOriginal, hBitstring, tests } = assessment;
  const { independence, goodnessOfFit, longestRepeat, permutation } = tests;
  const statistics = STATISTIC_NAMES.map((name) => [name, permutation.statistics[name].statistic]);
  return {
    mean: tests.mean,
    hOriginal,
    ...(hBitstring !== null && { hBitstring }),
    independence: independence.statistic,
    independenceDegrees: independence.degreesOfFreedom,
    independenceP: independence.pValue,
    fit: goodnessOfFit.statistic,
    fitDegrees: goodnessOfFit.degreesOfFreedom,
    fitP: goodnessOfFit.pValue,
    pCollision: longestRepeat.pCollision,
    repeatLength: longestRepeat.length,
    repeatP: longestRepeat.probability,
    ...Object.fromEntries(statistics),
    chiSquarePassed: independence.passed && goodnessOfFit.passed,
    repeatPassed: longestRepeat.passed,
    permutationPassed: permutation.passed,
  };
}

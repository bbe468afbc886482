/**
 * Stage 3 of 7. In: a sequence of bits, packed (`runPackedSuite`) or one per byte (`runSuite`).
 * Out: a `SuiteReport` and verdicts on it, or on the source of many.
 * Standard: SP 800-22 Rev. 1a, all 15 tests.
 *
 * `runSuite` is the readable reference; `runPackedSuite` counts by kernels that are held to it. No
 * clock, no I/O but reading the kernels once, no state but their memory and the counts of a
 * `PValueTally`.
 */
export { approximateEntropy } from './approximate-entropy.ts';
export { TextBitReader, type TextFault, type TextFormat, unpackBits } from './bits.ts';
export { blockFrequency } from './block-frequency.ts';
export { type Constants, DFT_T2_OVER_N } from './constants.ts';
export { cumulativeSums } from './cumulative-sums.ts';
export { dft } from './dft.ts';
export { fourierTransform } from './fourier.ts';
export { frequency, judgeFrequency } from './frequency.ts';
export {
  KERNEL_MAXIMUM_BITS,
  kernelBuild,
  type PackedSuiteOptions,
  runPackedSuite,
} from './kernels.ts';
export { P_VALUE_LABELS } from './labels.ts';
export { linearComplexity } from './linear-complexity.ts';
export { longestRun } from './longest-run.ts';
export { aperiodicTemplates, nonOverlappingTemplate } from './non-overlapping-template.ts';
export { overlappingTemplate } from './overlapping-template.ts';
export { EXCURSION_STATES, randomExcursions } from './random-excursions.ts';
export { randomExcursionsVariant, VARIANT_STATES } from './random-excursions-variant.ts';
export { rank } from './rank.ts';
export { type AssessedTest, type AssessReport, toAssessReport } from './report.ts';
export type { Statistics, TestResult } from './result.ts';
export { runs } from './runs.ts';
export {
  FAMILY_ALPHA,
  type JudgedRow,
  judgeSecondLevel,
  type PValueReport,
  PValueTally,
  proportionInterval,
  proportionProbability,
  type RowCounts,
  SECOND_LEVEL_MINIMUM_SEQUENCES,
  type SecondLevel,
  type SecondLevelRow,
  type SecondLevelVerdict,
  UNIFORMITY_ALPHA,
  uniformityPValue,
} from './second-level.ts';
export { serial } from './serial.ts';
export { erfc, igamc } from './special-functions.ts';
export {
  type ApplicableOutcome,
  type InapplicableOutcome,
  MINIMUM_BITS,
  runSuite,
  type SuiteOptions,
  type SuiteReport,
  TEST_NAMES,
  type TestName,
  type TestOutcome,
} from './suite.ts';
export { universal } from './universal.ts';
export {
  ALPHA,
  type ComplianceLevel,
  complianceLevel,
  GATE_ALPHA,
  type Gate,
  type Grade,
  gate,
  grade,
  score,
  testLevelP,
} from './verdict.ts';

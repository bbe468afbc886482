/**
 * Stage 3 of 8. In: a sequence of bits, packed (`runPackedSuite`) or one per byte (`runSuite`).
 * Out: a `SuiteReport` and verdicts on it, or on the source of many sequences.
 * Standard: SP 800-22 Rev. 1a, all 15 tests.
 *
 * `runSuite` is the readable reference. `runPackedSuite` counts with kernels; tests compare their counts
 * with the reference. The stage uses no clock. Its only I/O is to load the kernels once; its only state
 * is their memory and the counts of a `PValueTally`.
 */

export { type AssessedTest, type AssessReport, toAssessReport } from './assess-report.ts';
export { unpackBits } from './bits.ts';
export { CATALOGUE, TEST_NAMES, type TestName } from './catalogue.ts';
export { type Constants, DFT_T2_OVER_N } from './constants.ts';
export { grouped } from './grouped.ts';
export { type RowName, rowLabels } from './labels.ts';
export { LAGS, type LagCounts } from './lags.ts';
export { type PValueReport, PValueTally, type RowCounts } from './p-value-tally.ts';
export {
  adoptKernelModule,
  KERNEL_MAXIMUM_BITS,
  KERNELS_SHA256,
  kernelBuild,
  kernelModule,
  type PackedSuiteOptions,
  READY_OPTIONS,
  type ReadyOptions,
  ready,
  runPackedSuite,
} from './packed-suite.ts';
export {
  type BlockLength,
  NIST_PARAMETERS,
  type SuiteParameters,
  type TestParameters,
} from './parameters.ts';
export { ALPHA, testLevelP } from './pass-rule.ts';
export { resolveParameters } from './resolve-parameters.ts';
export type { Statistics, TestResult } from './result.ts';
export {
  type Check,
  FAMILY_ALPHA,
  fitProbability,
  type JudgedRow,
  judgeSecondLevel,
  proportionInterval,
  proportionProbability,
  SECOND_LEVEL_MINIMUM_SEQUENCES,
  type SecondLevel,
  type SecondLevelRow,
  type SecondLevelVerdict,
  UNIFORMITY_ALPHA,
  uniformityPValue,
} from './second-level.ts';
export { type Hash, Sha256 } from './sha256.ts';
export type { Scan } from './source-rule/scan.ts';
export {
  SmallestPValues,
  type SmallPValue,
  sequencePValues,
} from './source-rule/sequence-p-values.ts';
export { erfc, igamc } from './special-functions.ts';
export {
  type ApplicableOutcome,
  type InapplicableOutcome,
  minimumBits,
  PARAMETER_TESTS,
  runSuite,
  SUITE_OPTIONS,
  type SuiteOptions,
  type SuiteReport,
  type TestOutcome,
} from './suite.ts';
export {
  type ApplicableSupplement,
  NOT_OF_STANDARD,
  SUPPLEMENT_NAMES,
  type SupplementName,
  type SupplementOutcome,
  supplementMinimumBits,
} from './supplements/supplements.ts';
export { approximateEntropy } from './tests/approximate-entropy.ts';
export { blockFrequency } from './tests/block-frequency.ts';
export { cumulativeSums } from './tests/cumulative-sums.ts';
export { dft } from './tests/dft.ts';
export { fourierTransform } from './tests/fourier.ts';
export { frequency, judgeFrequency } from './tests/frequency.ts';
export { linearComplexity } from './tests/linear-complexity.ts';
export { longestRun } from './tests/longest-run.ts';
export { aperiodicTemplates, nonOverlappingTemplate } from './tests/non-overlapping-template.ts';
export { overlappingTemplate } from './tests/overlapping-template.ts';
export { EXCURSION_STATES, randomExcursions } from './tests/random-excursions.ts';
export { randomExcursionsVariant, VARIANT_STATES } from './tests/random-excursions-variant.ts';
export { rank } from './tests/rank.ts';
export { runs } from './tests/runs.ts';
export { serial } from './tests/serial.ts';
export { universal } from './tests/universal.ts';
export {
  judgeLongStreams,
  type LongStreams,
  type LongStreamTest,
} from './thorough/judge-streams.ts';
export {
  LONG_STREAM_MAXIMUM_BITS,
  LONG_STREAM_MINIMUM_BITS,
  type LongStreamName,
  type LongStreamReport,
  runLongStream,
  THOROUGH_TESTS,
} from './thorough/long-stream.ts';
export {
  type ComplianceLevel,
  complianceLevel,
  GATE_ALPHA,
  type Gate,
  type GatePValue,
  type Grade,
  gate,
  gatePValues,
  grade,
  isOfGate,
  score,
} from './verdict.ts';

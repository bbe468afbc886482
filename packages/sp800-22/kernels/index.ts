/**
 * The SP 800-22 kernels: the counting loops of the suite. TypeScript (packages/sp800-22/src/) turns the counts
 * into p-values. One module, one memory, one sequence at a time.
 */
export { AUTOCORRELATION_SIZE, AUTOCORRELATION_SUMS, correlate } from './autocorrelation';
export { countPeaks } from './dft';
export { binSquared } from './dft-bin';
export {
  APART_FACTORS,
  BIN_ROTATIONS,
  BYTE_SUMS,
  LANE_FACTORS,
  LANE_FACTORS_SIZE,
  NODE_FACTORS_1,
  NODE_FACTORS_2,
  NODE_FACTORS_3,
  PAIR_FACTORS,
  TWISTS,
  TWISTS_SIZE,
} from './dft-memory';
export { countOnesAndRuns, sumOfBlocks } from './frequency';
export { ingest, wipe, wipeWithoutScratch } from './input';
export { countLags } from './lags';
export { countComplexities } from './linear-complexity';
export { classifyLongestRuns } from './longest-run';
export {
  COMPLEXITIES,
  EXCURSIONS,
  HIGH_PEAKS,
  INPUT,
  INPUT_PAD,
  LAG_COUNTS,
  LOG_SUM,
  LOGARITHMS,
  LONGEST_RUNS,
  ONES_AND_RUNS,
  OVERLAPS,
  PEAK_LIST,
  PEAK_LIST_LIMIT,
  PEAKS,
  RANKS,
  SCAN_LEVELS,
  SCAN_TOTALS,
  SQUARES,
  WALK,
} from './memory';
export { countTemplates, TEMPLATE_COUNTS } from './non-overlapping-template';
export { classifyOverlaps } from './overlapping-template';
export { countPatterns, PATTERN_COUNTS } from './patterns';
export { countExcursions, findExtremes } from './random-walk';
export { classifyRanks } from './rank';
export { scanWindows } from './scan';
export { LOGARITHM_LIMIT, sumLogDistances } from './universal';
export { countWindows, WINDOW_COUNTS, WINDOW_MAXIMUM } from './windows';

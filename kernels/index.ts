/**
 * The SP 800-22 kernels: the counting loops of the suite, from which TypeScript (src/sts/) makes
 * p-values. One module, one memory, one sequence at a time.
 */
export { countOnesAndRuns } from './frequency';
export { ingest, wipe } from './input';
export { countComplexities } from './linear-complexity';
export { classifyLongestRuns } from './longest-run';
export {
  COMPLEXITIES,
  EXCURSIONS,
  INPUT,
  INPUT_PAD,
  LOG_SUM,
  LOGARITHMS,
  LONGEST_RUNS,
  ONES_AND_RUNS,
  OVERLAPS,
  RANKS,
  SQUARES,
  WALK,
} from './memory';
export { countTemplates, TEMPLATE_COUNTS } from './non-overlapping-template';
export { classifyOverlaps } from './overlapping-template';
export { countPatterns, PATTERN_COUNTS } from './patterns';
export { countExcursions, findExtremes } from './random-walk';
export { classifyRanks } from './rank';
export { LOGARITHM_LIMIT, sumLogDistances } from './universal';

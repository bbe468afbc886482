/**
 * What a laboratory does with files: the reports of SP 800-90B assessments, as text, JSON and page, and the law of doubling. The
 * command line and the page of the test bench write the same ones.
 */

export { DOUBLING_ALPHA, Doubling, type Finding, type Level } from './doubling.ts';
export { type EntropyClaim, initialClaim } from './entropy/claim.ts';
export { type EntropyResult, entropyForms, nonIidResult } from './entropy/forms.ts';
export {
  fewPairsWarning,
  formatIidRestartText,
  formatIidText,
  iidJson,
  iidRestartJson,
} from './entropy/iid-report.ts';
export { conditionedPage, iidPage, iidRestartPage, restartPage } from './entropy/page-parts.ts';
export {
  bitsText,
  conditionedJson,
  entropyJson,
  formatConditionedText,
  formatEntropyText,
  formatRestartText,
  restartJson,
  tooFewWarning,
} from './entropy/report.ts';
export { type EntropyTrace, entropyTrace } from './entropy/trace.ts';
export { formWarning } from './form-warning.ts';

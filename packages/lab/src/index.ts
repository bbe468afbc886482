/**
 * What a laboratory does with files of random bits: it reads them, runs SP 800-22 on all cores, estimates entropy by SP 800-90B,
 * and writes reports as text, JSON, CSV and page. The command line, the page of the test bench and programs of others use it.
 */

export { assess } from './assess/assess.ts';
export type { Assessment } from './assess/assessment.ts';
export { AssessError, type AssessFault, type AssessFigures } from './assess/errors.ts';
export type { AssessOptions, Writers } from './assess/options.ts';
export type { Progress } from './assess/suite-run.ts';
export { DOUBLING_ALPHA, Doubling, type Finding, type Level } from './doubling/doubling.ts';
export { type EntropyClaim, initialClaim } from './entropy/claim.ts';
export { formWarning } from './entropy/form-warning.ts';
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
  estimatorText,
  formatConditionedText,
  formatEntropyText,
  formatRestartText,
  restartJson,
  tooFewWarning,
} from './entropy/report.ts';
export { type EntropyTrace, entropyTrace } from './entropy/trace.ts';
export type { Bytes } from './input/bytes.ts';
export { MAXIMUM_BITS } from './input/cutter.ts';
export { guessFormat, recogniseForm } from './input/input-format.ts';
export type { BlobSource, ByteSource, NodeStream, Source, StreamSource } from './input/kinds.ts';
export { type InputFormat, openReader } from './input/open.ts';
export {
  type ConsumedInput,
  type InputSequence,
  type SequenceReader,
  skipBits,
} from './input/reader.ts';
export { FORMS, type Form } from './input/readers/table.ts';
export type { FormatGuess, RecognisedForm, Remedy } from './input/recognised-form.ts';
export { type Recognition, refuseForm } from './input/recognising.ts';
export { TextBitReader, type TextFault, type TextFormat } from './input/text-bits.ts';
export { type Markup, markup, NOTHING } from './report/html/markup.ts';
export {
  digestName,
  isReadWhole,
  readText,
  reportEnd,
  reportTable,
  runningHead,
  traceSection,
} from './report/html/report-section.ts';
export { STYLE } from './report/html/style.ts';
export { HtmlOutput, type PageHead } from './report/html-output.ts';
export {
  checkFields,
  fieldRows,
  MAX_FIELD_LENGTH,
  REPORT_FIELDS,
  type ReportFields,
  reportId,
} from './report/identity.ts';
export { formatNistReport } from './report/nist-report.ts';
export { makeOutput, type OutputKind } from './report/output.ts';
export {
  type AssessOutput,
  type AssessSummary,
  hasFailed,
  RunCounts,
  type TestCounts,
} from './report/summary.ts';
export { alignColumns, countText } from './report/table.ts';
export type { RunTrace, Software, TraceSource } from './report/trace.ts';
export { createdText, type Finished, identityRows, traceJson, traceRows } from './report/trace.ts';

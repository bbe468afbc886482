/**
 * What a laboratory does with files of random bits: it reads them, runs SP 800-22 on all cores, estimates entropy by SP 800-90B,
 * and writes reports as text, JSON, CSV and page. The command line, the page of the test bench and programs of others use it.
 */

export { assess } from './assess/assess.ts';
export type { Assessment } from './assess/assessment.ts';
export { AssessError, type AssessFault, type AssessFigures } from './assess/errors.ts';
export type { AssessOptions, Writers } from './assess/options.ts';
export type { Progress } from './assess/suite-run.ts';
export {
  checkFields,
  conditionedReport,
  createdText,
  entropyForms,
  entropyTrace,
  estimatorText,
  fewPairsWarning,
  formatNistReport,
  formWarning,
  guessFormat,
  hasFailed,
  iidReport,
  iidRestartReport,
  makeOutput,
  nonIidReport,
  recogniseForm,
  refuseForm,
  restartReport,
  skipBits,
  textOf,
  tooFewWarning,
  traceJson,
  traceRows,
} from './checked.ts';
export { DOUBLING_ALPHA, Doubling, type Finding, type Level } from './doubling/doubling.ts';
export type { EntropyClaim } from './entropy/claim.ts';
export type { EntropyReport } from './entropy/model.ts';
export type { EntropyTrace } from './entropy/trace.ts';
export type { Bytes } from './input/bytes.ts';
export { MAXIMUM_BITS } from './input/cutter.ts';
export type { BlobSource, ByteSource, NodeStream, Source, StreamSource } from './input/kinds.ts';
export { type InputFormat, openReader } from './input/open.ts';
export type { ConsumedInput, InputSequence, SequenceReader } from './input/reader.ts';
export { FORMS, type Form } from './input/readers/table.ts';
export type { FormatGuess, RecognisedForm, Remedy } from './input/recognised-form.ts';
export type { Recognition } from './input/recognising.ts';
export { TextBitReader, type TextFault, type TextFormat } from './input/text-bits.ts';
export { type Markup, markup, NOTHING } from './report/html/markup.ts';
export { STYLE } from './report/html/style.ts';
export { HtmlOutput, type PageHead } from './report/html-output.ts';
export { MAX_FIELD_LENGTH, REPORT_FIELDS, type ReportFields } from './report/identity.ts';
export type { OutputKind } from './report/output.ts';
export {
  type AssessOutput,
  type AssessSummary,
  RunCounts,
  type TestCounts,
} from './report/summary.ts';
export type { Finished, RunTrace, Software, TraceSource } from './report/trace.ts';

/**
 * Reports of the suite as JSON, CSV, text and a web page. In: one `SuiteReport` per sequence, in order. Out: text, as
 * soon as it is complete. This folder opens no file.
 */

export { type Markup, markup, NOTHING } from './html/markup.ts';
export {
  digestName,
  isReadWhole,
  readText,
  reportEnd,
  reportTable,
  runningHead,
  traceSection,
} from './html/report-section.ts';
export { STYLE } from './html/style.ts';
export { HtmlOutput, type PageHead } from './html-output.ts';
export {
  checkFields,
  fieldRows,
  MAX_FIELD_LENGTH,
  REPORT_FIELDS,
  type ReportFields,
  reportId,
} from './identity.ts';
export { type AssessReport, toAssessReport } from './json.ts';
export { formatNistReport } from './nist-report.ts';
export { makeOutput, type OutputKind } from './output.ts';
export {
  type AssessOutput,
  type AssessSummary,
  hasFailed,
  RunCounts,
  type TestCounts,
} from './summary.ts';
export { alignColumns, countText, grouped } from './table.ts';
export type { RunTrace, TraceSource } from './trace.ts';
export { createdText, type Finished, identityRows, traceJson, traceRows } from './trace.ts';

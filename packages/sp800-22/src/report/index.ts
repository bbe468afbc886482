/**
 * Reports of the suite as JSON, CSV, text and a web page. In: one `SuiteReport` per sequence, in order. Out: text, as
 * soon as it is complete. This folder opens no file.
 */

export { HtmlOutput, type PageHead } from './html-output.ts';
export { type AssessReport, toAssessReport } from './json.ts';
export { makeOutput, type OutputKind } from './output.ts';
export { type AssessOutput, type AssessSummary, RunCounts, type TestCounts } from './summary.ts';
export { alignColumns, countText, grouped } from './table.ts';

/** The text report: on the sequence if there is one, else on the source. */
import {
  type AssessedTest,
  type Constants,
  type SuiteReport,
  toAssessReport,
} from '../../../sp800-22/src/index.ts';
import { formatLongStreams } from './long-streams.ts';
import { pValueText } from './p-value-text.ts';
import { finalAnalysis, verdictLines } from './second-level-text.ts';
import type { AssessOutput, AssessSummary } from './summary.ts';
import { formatSupplementSummary, formatSupplements } from './supplements.ts';
import { alignColumns } from './text.ts';
import { type TraceSource, traceRows } from './trace.ts';
import {
  heading,
  NO_CERTIFICATE,
  partLines,
  passedText,
  sourceText,
  TEST_RULE,
} from './verdict-text.ts';

/** Writes a table at the end: on the sequence if there is one, else on the source. */
export class TextOutput implements AssessOutput {
  readonly #write: (text: string) => void;
  readonly #trace: TraceSource | undefined;
  #first: SuiteReport | undefined;

  constructor(write: (text: string) => void, trace: TraceSource | undefined) {
    this.#write = write;
    this.#trace = trace;
  }

  add(report: SuiteReport): void {
    this.#first ??= report;
  }

  end(summary: AssessSummary): void {
    if (!this.#first) return;
    this.#write(`${sequenceOrSource(this.#first, summary)}${supplementText(this.#first, summary)}`);
    if (summary.longStreams) this.#write(formatLongStreams(summary.longStreams));
    if (!this.#trace) return;
    const lines = alignColumns(traceRows(this.#trace(), this.#first, summary));
    this.#write(`\n${lines.join('\n')}\n`);
  }
}

function isSole({ sequences, complete }: AssessSummary): boolean {
  return sequences === 1 && complete;
}

function sequenceOrSource(first: SuiteReport, summary: AssessSummary): string {
  if (isSole(summary)) return formatSequenceText(first, summary);
  return formatSummaryText(first, summary);
}

function supplementText({ supplements }: SuiteReport, summary: AssessSummary): string {
  if (!supplements || !summary.supplements) return '';
  return isSole(summary)
    ? formatSupplements(supplements, summary.supplements)
    : formatSupplementSummary(summary.supplements);
}

/** Explains the constants that the heading names. */
const CONSTANTS_NOTE: Readonly<Record<Constants, string>> = {
  exact: 'Exact constants are the true values.',
  nist: 'nist constants are those of the NIST program, some of them approximations.',
};

/** The text report on the tests of one sequence, with a final line end. */
export function formatSequenceText(report: SuiteReport, summary: AssessSummary): string {
  if (report.tests.length === 0) {
    return joinLines([heading(report, 1), '', `${sourceText(summary)}.`]);
  }
  const { constants, tests, tests_passed, total_tests } = toAssessReport(report);
  const rows = tests.map((test) => [
    test.name,
    smallestOfTest(test),
    test.corrected_p === null ? '-' : pValueText(test.corrected_p),
    resultText(test),
  ]);
  const failed = tests.filter(({ passed }) => passed === false).map(({ name }) => name);
  return joinLines([
    heading(report, 1),
    '',
    `${sourceText(summary)}.`,
    ...partLines(summary),
    ...alignColumns([['test', 'p-value', 'corrected p', 'result'], ...rows]),
    '',
    `${passedText(tests_passed, total_tests, tests.length)}.`,
    ...(failed.length > 0 ? [`Failed: ${failed.join(', ')}.`] : []),
    TEST_RULE,
    CONSTANTS_NOTE[constants],
    ...NO_CERTIFICATE,
  ]);
}

/** The text report on the tests of several sequences, with a final line end. `first` is the report on the first one. */
export function formatSummaryText(first: SuiteReport, summary: AssessSummary): string {
  const { sequences, complete, tests, secondLevel } = summary;
  const early = complete ? '' : '; ended early';
  const title = `${heading(first, sequences)}${early}`;
  if (tests.length === 0) return joinLines([title, '', `${sourceText(summary)}.`]);
  const rows = tests.map(({ name, applicable, passed }) => [
    name,
    applicable === 0 ? 'not applicable' : `${passed} of ${applicable}`,
  ]);
  return joinLines([
    title,
    '',
    `${sourceText(summary)}.`,
    ...partLines(summary),
    ...(secondLevel.judged ? [...finalAnalysis(secondLevel), ''] : []),
    ...alignColumns([['test', 'sequences passed'], ...rows]),
    '',
    ...verdictLines(secondLevel),
    TEST_RULE,
    CONSTANTS_NOTE[first.constants],
    ...NO_CERTIFICATE,
  ]);
}

/** Returns the smallest p-value and the number of p-values. */
function smallestOfTest({ applicable, p_values, statistics }: AssessedTest): string {
  if (!applicable) return '-';
  if (statistics.prerequisite_met === false) return '0 (share of ones is off)';
  const text = pValueText(Math.min(...p_values));
  return p_values.length === 1 ? text : `${text} (smallest of ${p_values.length})`;
}

function resultText({ applicable, reason, passed }: AssessedTest): string {
  if (!applicable) return `not applicable: ${reason}`;
  return passed ? 'passed' : 'failed';
}

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

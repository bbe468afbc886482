/** The text report: on the sequence if there is one, else on the source. */
import {
  type AssessedTest,
  type Constants,
  type SuiteReport,
  toAssessReport,
} from '../../../sp800-22/src/index.ts';
import { longStreamsText } from './long-streams.ts';
import { pValueText } from './p-value-text.ts';
import { finalAnalysis, secondLevelText } from './second-level-text.ts';
import type { AssessOutput, AssessSummary } from './summary.ts';
import { supplementsOfSequence, supplementsOfSource } from './supplements.ts';
import { alignColumns, type Paragraph, textOf } from './text.ts';
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
    const first = this.#first;
    const text = textOf([
      ...testsText(first, summary),
      ...supplementsText(first, summary),
      summary.longStreams ? longStreamsText(summary.longStreams) : [],
      this.#trace ? alignColumns(traceRows(this.#trace(), first, summary)) : [],
    ]);
    this.#write(text);
  }
}

function isSole({ sequences, complete }: AssessSummary): boolean {
  return sequences === 1 && complete;
}

/** `first` is the report on the first sequence. */
function testsText(first: SuiteReport, summary: AssessSummary): Paragraph[] {
  const { sequences, complete, tests } = summary;
  const title = `${heading(first, sequences)}${complete ? '' : '; ended early'}`;
  const verdict = `${sourceText(summary)}.`;
  if (tests.length === 0) return [[title], [verdict]];
  const notes = [TEST_RULE, CONSTANTS_NOTE[first.constants], ...NO_CERTIFICATE];
  return [
    [title],
    [verdict, ...partLines(summary)],
    ...(isSole(summary) ? sequenceText(first, notes) : sourceTables(summary, notes)),
  ];
}

function supplementsText({ supplements }: SuiteReport, summary: AssessSummary): Paragraph[] {
  if (!supplements || !summary.supplements) return [];
  return isSole(summary)
    ? supplementsOfSequence(supplements, summary.supplements)
    : supplementsOfSource(summary.supplements);
}

/** Explains the constants that the heading names. */
const CONSTANTS_NOTE: Readonly<Record<Constants, string>> = {
  exact: 'Exact constants are the true values.',
  nist: 'nist constants are those of the NIST program, some of them approximations.',
};

/** On the tests of one sequence. */
function sequenceText(report: SuiteReport, notes: Paragraph): Paragraph[] {
  const { tests, tests_passed, total_tests } = toAssessReport(report);
  const rows = tests.map((test) => [
    test.name,
    smallestOfTest(test),
    test.corrected_p === null ? '-' : pValueText(test.corrected_p),
    testResult(test),
  ]);
  const failed = tests.filter(({ passed }) => passed === false).map(({ name }) => name);
  return [
    alignColumns([['test', 'p-value', 'corrected p', 'result'], ...rows]),
    [
      `${passedText(tests_passed, total_tests, tests.length)}.`,
      ...(failed.length > 0 ? [`Failed: ${failed.join(', ')}.`] : []),
      ...notes,
    ],
  ];
}

/** On the tests of several sequences. */
function sourceTables({ tests, secondLevel }: AssessSummary, notes: Paragraph): Paragraph[] {
  const rows = tests.map(({ name, applicable, passed }) => [
    name,
    applicable === 0 ? 'not applicable' : `${passed} of ${applicable}`,
  ]);
  const counts = alignColumns([['test', 'sequences passed'], ...rows]);
  // The table of the parts has the reason.
  if (!secondLevel.judged) return [counts, notes];
  return [finalAnalysis(secondLevel), counts, ...secondLevelText(secondLevel), notes];
}

/** Returns the smallest p-value and the number of p-values. */
function smallestOfTest({ applicable, p_values, statistics }: AssessedTest): string {
  if (!applicable) return '-';
  if (statistics.prerequisite_met === false) return '0 (share of ones is off)';
  const text = pValueText(Math.min(...p_values));
  return p_values.length === 1 ? text : `${text} (smallest of ${p_values.length})`;
}

function testResult({ applicable, reason, passed }: AssessedTest): string {
  if (!applicable) return `not applicable: ${reason}`;
  return passed ? 'passed' : 'failed';
}

/** The reports of `phm assess`: the JSON summary and the text report. */

import {
  ALPHA,
  type AssessedTest,
  type Check,
  type Constants,
  grouped,
  type JudgedRow,
  NOT_OF_STANDARD,
  type RowCounts,
  type SecondLevel,
  type SecondLevelRow,
  type SecondLevelVerdict,
  type SuiteReport,
  toAssessReport,
  UNIFORMITY_ALPHA,
} from '../../../sp800-22/src/index.ts';
import type { SourcePart, SourceVerdict } from '../../../sp800-22/src/source-rule/index.ts';
import { notJudgedTexts, rowNotes } from './not-judged.ts';
import { pValueText, SMALLEST_FIXED } from './p-value-text.ts';
import type { AssessSummary, GroupSummary } from './summary.ts';
import { alignColumns, countText } from './table.ts';
import { partRows, ruleTexts, smallestText, sourceText } from './verdict-text.ts';

/** The `summary` of a report on several sequences. */
export function toJsonSummary(summary: AssessSummary): object {
  const { sequences, complete, tests, supplements } = summary;
  return {
    sequences,
    complete,
    passed: summary.passed,
    ...toJsonGroup(summary),
    tests,
    ...(supplements && {
      supplements: {
        standard: NOT_OF_STANDARD,
        ...toJsonGroup(supplements),
        tests: supplements.tests,
      },
    }),
  };
}

function toJsonGroup({ smallest, verdict, secondLevel }: GroupSummary): object {
  const { passed, alpha, parts, findings } = verdict;
  return {
    smallest: smallest ?? null,
    verdict: { passed, alpha, parts: parts.map((part) => toJsonPart(part, findings)) },
    second_level: toJsonSecondLevel(secondLevel),
  };
}

/** The figures of the second level stand beside the verdict, because there are many. */
function toJsonPart(part: SourcePart, findings: SourceVerdict['findings']): object {
  return part.name === 'second_level' ? part : { ...part, found: findings[part.name] ?? null };
}

function toJsonSecondLevel(secondLevel: SecondLevel): object {
  if (!secondLevel.judged) return secondLevel;
  return {
    judged: true,
    passed: secondLevel.passed,
    family_alpha: secondLevel.familyAlpha,
    checks: secondLevel.checks,
    check_alpha: secondLevel.checkAlpha,
    rows_judged: secondLevel.rowsJudged,
    rows_failed: secondLevel.rowsFailed,
    rows_outside_interval: secondLevel.rowsOutsideInterval,
    expected_outside_interval: secondLevel.expectedOutsideInterval,
    rows_not_uniform: secondLevel.rowsNotUniform,
    rows: secondLevel.rows.map(toJsonRow),
  };
}

function toJsonRow(row: SecondLevelRow): object {
  const { test, index, label, sequences, passes, histogram } = row;
  const counts = { test, index, label, sequences, passes, histogram };
  if (!row.judged) return { ...counts, judged: false, reason: row.reason };
  return {
    ...counts,
    judged: true,
    proportion: row.proportion,
    interval: row.interval,
    in_interval: row.inInterval,
    proportion_p: row.proportionP,
    uniformity_p: row.uniformityP,
    uniform: row.uniform,
    proportion_check: row.proportionCheck,
    uniformity_check: row.uniformityCheck,
    passed: row.passed,
  };
}

export const NO_CERTIFICATE: readonly string[] = [
  '"passed" and "FAILED" are labels of this program: NIST certifies nothing by SP 800-22, and a',
  'sequence that passes may still be predictable.',
];

export const TEST_RULE: string = `A test passes if its smallest p-value, corrected for their number, is at least ${ALPHA}.`;

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

/** Returns "15 of 15 tests passed", followed by `note` and the number of tests that do not apply, if any. */
export function passedText(passed: number, applicable: number, tests: number, note = ''): string {
  if (applicable === tests) return `${passed} of ${tests} tests passed${note}`;
  const rest = `${tests - applicable} of ${tests} not applicable`;
  return `${passed} of ${applicable} applicable tests passed${note}; ${rest}`;
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

/** Returns the first line of a report on so many sequences. It names no standard if only supplements were run. */
export function heading({ bits, constants, tests }: SuiteReport, sequences: number): string {
  const size = `${sequences === 1 ? '' : `${countText(sequences)} of `}${grouped(bits)} bits`;
  return tests.length === 0
    ? `Supplements, ${NOT_OF_STANDARD}: ${size}`
    : `SP 800-22 Rev. 1a: ${size}, ${constants} constants`;
}

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

const RULE = '-'.repeat(86);

/**
 * The table of the NIST program's finalAnalysisReport. Asterisks mark the standard's limits. Tests that
 * never applied are left out.
 */
function finalAnalysis({ rows }: SecondLevelVerdict): string[] {
  return [
    RULE,
    'RESULTS FOR THE UNIFORMITY OF P-VALUES AND THE PROPORTION OF PASSING SEQUENCES',
    RULE,
    ' C1  C2  C3  C4  C5  C6  C7  C8  C9 C10  P-VALUE    PROPORTION    STATISTICAL TEST',
    RULE,
    ...rows.filter(({ sequences }) => sequences > 0).map(rowText),
    RULE,
  ];
}

function rowText(row: SecondLevelRow): string {
  const classes = row.histogram.map((count) => String(count).padStart(3)).join(' ');
  const proportion = `${row.passes}/${row.sequences}`.padStart(11);
  const name = rowName(row);
  if (!row.judged) return `${classes}  ${'----'.padEnd(8)}   ${proportion}    ${name}  not judged`;
  const uniformity = `${uniformityText(row.uniformityP)} ${row.uniform ? ' ' : '*'}`;
  const notes = [...(row.passed ? [] : ['FAILED']), ...rowNotes(row)].map((note) => `  ${note}`);
  return `${classes}  ${uniformity} ${proportion} ${row.inInterval ? ' ' : '*'}  ${name}${notes.join('')}`;
}

/** Returns eight characters: "0.275709", "2.35e-30", "2.3e-188". */
function uniformityText(p: number): string {
  if (p >= SMALLEST_FIXED) return p.toFixed(6);
  const text = p.toExponential(p > 0 && p < 1e-99 ? 1 : 2);
  return (p === 0 ? '0' : text).padEnd(8);
}

export function rowName({ test, label }: RowCounts): string {
  return label === '' ? test : `${test} ${label}`;
}

function verdictLines(secondLevel: SecondLevel): string[] {
  // The table of the parts has the reason.
  if (!secondLevel.judged) return [];
  const { rowsJudged, rowsFailed, passed } = secondLevel;
  return [
    ...standardTexts(secondLevel).map((text) => `* ${text}`),
    ...intervalTexts(secondLevel).map((text) => `  ${text}`),
    '',
    `Second level: ${passed ? 'passed' : 'FAILED'}, ${rowsFailed} of ${rowsJudged} rows failed.`,
    ...secondLevel.rows.filter((row) => row.judged && !row.passed).map(failureText),
    ...verdictNotes(secondLevel),
    ...notJudgedTexts(secondLevel),
    '',
  ];
}

/** Returns the parts of the verdict by the tests, or by the supplements, and an empty line. */
export function partLines(group: GroupSummary): string[] {
  const rows = partRows(group).map(({ title, p, limit, result, found }) => [
    title,
    p,
    limit,
    result,
    found,
  ]);
  return [
    ...(group.smallest ? [smallestText(group.smallest)] : []),
    ...alignColumns([['part', 'p', 'limit', 'result', 'most extreme'], ...rows]),
    ...ruleTexts(group.verdict.alpha),
    '',
  ];
}

/** Explains the second level, and says when a row fails. */
export function verdictNotes(secondLevel: SecondLevelVerdict): string[] {
  const { checks, checkAlpha, familyAlpha, rowsJudged } = secondLevel;
  const percent = `${familyAlpha * 100} %`;
  return [
    'The second level (§4.2) judges rows. A row is one p-value of a test, over all sequences. It has',
    `two checks: how many sequences have p >= ${ALPHA}, not corrected (binomial p), and whether their p-values`,
    'are distributed as those of a sound source at this length (uniformity p; P-value_T takes them as uniform).',
    `A row fails if one is below ${checkAlpha.toExponential(2)}: ${percent} divided by ${checks} checks of ${countText(rowsJudged, 'row')}.`,
    `So this part fails at most about ${percent} of sound sources.`,
  ];
}

/** Counts the rows outside the standard's limits for one row, uncorrected. */
function standardTexts(secondLevel: SecondLevelVerdict): string[] {
  const { rowsJudged, rowsOutsideInterval, expectedOutsideInterval, rowsNotUniform } = secondLevel;
  const expected = expectedOutsideInterval.toFixed(2);
  return [
    `${rowsOutsideInterval} of ${rowsJudged} rows outside their ±3σ interval (§4.2.1); ${expected} expected.`,
    `${rowsNotUniform} of ${rowsJudged} rows with P-value_T below ${UNIFORMITY_ALPHA} (§4.2.2).`,
  ];
}

/** Returns one text for each number of sequences. */
function intervalTexts({ rows }: SecondLevelVerdict): string[] {
  return [...new Set(rows.filter((row) => row.judged).map(intervalText))];
}

/** Returns the interval of a row, and the counts of passes within it. */
export function intervalText({ interval: [low, high], sequences }: JudgedRow): string {
  const [fewest, most] = [Math.ceil(low * sequences), Math.floor(high * sequences)];
  return `Interval: ${low.toFixed(7)} to ${high.toFixed(7)}, ${fewest} to ${most} of ${sequences}.`;
}

export function failureText(row: SecondLevelRow): string {
  if (!row.judged) return '';
  const passes = `${row.passes}/${row.sequences} with p >= ${ALPHA}`;
  const [binomial, uniformity] = [row.proportionCheck, row.uniformityCheck].map(checkText);
  return `  ${rowName(row)}: ${passes}, binomial p ${binomial}; uniformity p ${uniformity}`;
}

function checkText(check: Check): string {
  if (!check.judged) return 'not judged';
  const limit = check.limit === undefined ? '' : ` (as of ${countText(check.limit)})`;
  return `= ${check.p.toExponential(2)}${limit}`;
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

/** The second level in words: its rows and checks, those that are not judged, and the table of the NIST program. */

import {
  ALPHA,
  type Check,
  type JudgedRow,
  type RowCounts,
  type SecondLevelRow,
  type SecondLevelVerdict,
  UNIFORMITY_ALPHA,
} from '../../../sp800-22/src/index.ts';
import { SMALLEST_FIXED } from './p-value-text.ts';
import { countText, type Paragraph, resultText } from './text.ts';

/** Returns notes beside a row: a check that is not judged or reduced, or its probability where P-value_T misleads. */
function rowNotes(row: JudgedRow): string[] {
  const { proportionCheck, uniformityCheck, uniform, uniformityP, passed } = row;
  const notes: string[] = [];
  if (!proportionCheck.judged) notes.push('proportion not judged');
  else notes.push(...reducedNotes('proportion', proportionCheck));
  if (!uniformityCheck.judged) notes.push('uniformity not judged');
  else notes.push(...reducedNotes('uniformity', uniformityCheck));
  if (!uniformityCheck.judged) return notes;
  if (passed && !uniform && uniformityCheck.p !== uniformityP) {
    notes.push(`uniformity p = ${uniformityCheck.p.toPrecision(2)}`);
  }
  return notes;
}

function reducedNotes(what: string, { limit }: { readonly limit?: number }): string[] {
  return limit === undefined ? [] : [`${what} as of ${countText(limit)}`];
}

/** Returns one text for each reason and each limit, with the rows that it concerns. */
export function notJudgedTexts({ rows }: SecondLevelVerdict): string[] {
  const texts = new Map<string, Note & { tests: Map<string, number> }>();
  for (const row of rows.filter(({ sequences }) => sequences > 0)) {
    for (const note of notesOf(row)) {
      const key = `${note.what} ${note.reason}`;
      const text = texts.get(key) ?? { ...note, tests: new Map<string, number>() };
      text.tests.set(row.test, (text.tests.get(row.test) ?? 0) + 1);
      texts.set(key, text);
    }
  }
  return [...texts.values()].map(({ what, reason, tests }) => {
    const names = [...tests].map(([test, count]) => testText(test, count, rows));
    return `${what} of ${names.join(', ')}; ${reason}.`;
  });
}

interface Note {
  readonly what: string;
  readonly reason: string;
}

function notesOf(row: SecondLevelRow): Note[] {
  if (!row.judged) return [{ what: 'Not judged: proportion and uniformity', reason: row.reason }];
  return [
    ...checkNotes('proportion', row.proportionCheck),
    ...checkNotes('uniformity', row.uniformityCheck),
  ];
}

function checkNotes(name: string, check: Check): Note[] {
  if (!check.judged) return [{ what: `Not judged: ${name}`, reason: check.reason }];
  if (check.limit === undefined) return [];
  const what = `As of ${countText(check.limit)}, with counts in proportion: ${name}`;
  return [{ what, reason: 'the distribution of its p-values is not known well enough for more' }];
}

function testText(test: string, count: number, rows: readonly SecondLevelRow[]): string {
  return rows.filter((row) => row.test === test).length === 1
    ? test
    : `${test} (${countText(count, 'row')})`;
}

export function rowName({ test, label }: RowCounts): string {
  return label === '' ? test : `${test} ${label}`;
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

const RULE = '-'.repeat(86);

/**
 * The table of the NIST program's finalAnalysisReport. Asterisks mark the standard's limits. Tests that
 * never applied are left out.
 */
export function finalAnalysis({ rows }: SecondLevelVerdict): string[] {
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

/** Returns the standard's own figures, and the verdict on the rows. */
export function secondLevelText(secondLevel: SecondLevelVerdict): Paragraph[] {
  const { rows, rowsJudged, rowsFailed, passed } = secondLevel;
  return [
    [
      ...standardTexts(secondLevel).map((text) => `* ${text}`),
      ...intervalTexts(secondLevel).map((text) => `  ${text}`),
    ],
    [
      `Second level: ${resultText(passed)}, ${rowsFailed} of ${rowsJudged} rows failed.`,
      ...rows.filter((row) => row.judged && !row.passed).map(failureText),
      ...verdictNotes(secondLevel),
      ...notJudgedTexts(secondLevel),
    ],
  ];
}

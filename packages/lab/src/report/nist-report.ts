/** The file finalAnalysisReport.txt as the NIST program (STS 2.1.2) writes it, for tools that read that file. */

import { square } from '../../../sp800-22/src/elementary.ts';
import {
  ALPHA,
  CATALOGUE,
  igamc,
  type RowCounts,
  type TestName,
  UNIFORMITY_ALPHA,
} from '../../../sp800-22/src/index.ts';

const RULE = '-'.repeat(78);
const DASHES = Array(41).fill('-').join(' ');

/** Returns the report on the input `name`, with a line for each row that any sequence has. */
export function formatNistReport(name: string, rows: readonly RowCounts<TestName>[]): string {
  return [
    RULE,
    'RESULTS FOR THE UNIFORMITY OF P-VALUES AND THE PROPORTION OF PASSING SEQUENCES',
    RULE,
    `   generator is <${name}>`,
    RULE,
    ' C1  C2  C3  C4  C5  C6  C7  C8  C9 C10  P-VALUE  PROPORTION  STATISTICAL TEST',
    RULE,
    ...rows.filter(({ sequences }) => sequences > 0).map(rowText),
    '',
    '',
    DASHES,
    ...passRateTexts(rows),
    'For further guidelines construct a probability table using the MAPLE program',
    'provided in the addendum section of the documentation.',
    DASHES,
    '',
  ].join('\n');
}

function rowText({ test, histogram, passes, sequences }: RowCounts<TestName>): string {
  const classes = histogram.map((count) => `${String(count).padStart(3)} `).join('');
  const [fewest, most] = [-1, 1].map((sign) => limit(sequences, sign));
  const mark = passes < fewest || passes > most ? '*' : ' ';
  const proportion = `${String(passes).padStart(4)}/${String(sequences).padEnd(4)} ${mark}`;
  return `${classes}${uniformityText(histogram, sequences)}${proportion}  ${CATALOGUE[test].program}`;
}

/** The program divides the number of sequences by ten in integers, and cuts limits towards zero. */
function uniformityText(histogram: readonly number[], sequences: number): string {
  const expected = Math.floor(sequences / 10);
  if (expected === 0) return '    ----    ';
  const chi2 = histogram.reduce((sum, F) => sum + square(F - expected) / expected, 0);
  const p = igamc(9 / 2, chi2 / 2);
  return ` ${p.toFixed(6)} ${p < UNIFORMITY_ALPHA ? '*' : ' '} `;
}

function limit(sequences: number, sign: number): number {
  const p = 1 - ALPHA;
  return Math.trunc((p + sign * 3 * Math.sqrt((p * ALPHA) / sequences)) * sequences);
}

function passRateTexts(rows: readonly RowCounts<TestName>[]): string[] {
  const isExcursion = ({ test }: RowCounts): boolean => test.startsWith('random_excursions');
  const general = rows.filter((row) => !isExcursion(row)).at(-1);
  const excursion = rows.filter(isExcursion).at(-1);
  return [
    ...(general ? generalTexts(general) : []),
    ...(excursion ? excursionTexts(excursion) : []),
  ];
}

function generalTexts({ sequences }: RowCounts): string[] {
  const first = 'The minimum pass rate for each statistical test with the exception of the';
  if (sequences === 0) return [first, 'random excursion (variant) test is undefined.', ''];
  return [
    first,
    `random excursion (variant) test is approximately = ${limit(sequences, -1)} for a`,
    `sample size = ${sequences} binary sequences.`,
    '',
  ];
}

function excursionTexts({ sequences }: RowCounts): string[] {
  const first = 'The minimum pass rate for the random excursion (variant) test';
  if (sequences === 0) return [`${first} is undefined.`, ''];
  const rate = limit(sequences, -1);
  return [
    first,
    `is approximately = ${rate} for a sample size = ${sequences} binary sequences.`,
    '',
  ];
}

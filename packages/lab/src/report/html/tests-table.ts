/** The table of the tests: what each detects, and the results of the sequences. */

import type { ApplicableOutcome, SuiteReport, TestName } from '../../../../sp800-22/src/index.ts';
import { CATALOGUE, grouped } from '../../../../sp800-22/src/index.ts';
import { pValueText } from '../p-value-text.ts';
import type { AssessSummary, TestCounts } from '../summary.ts';
import { type Content, type Markup, markup, NOTHING } from './markup.ts';
import { signedResult, table } from './table.ts';

/** The smallest p-value of a test over all sequences, and the number of its p-values. */
export interface Smallest {
  readonly p: number;
  /** The smallest p-value of each sequence, corrected for the number of the test's p-values; the smallest of all. */
  readonly correctedP: number;
  readonly count: number;
}

/** Returns the table. `sole` is the report if there is a single sequence; the table then shows verdicts and reasons. */
export function testsTable(
  { tests, secondLevel, sequences }: AssessSummary,
  smallest: ReadonlyMap<TestName, Smallest>,
  sole: SuiteReport | undefined,
): Markup {
  const columns = [
    'Test',
    sole ? 'Result' : 'Sequences passed',
    { figures: 'Smallest p' },
    { figures: 'Corrected' },
    { figures: 'p-values' },
    'Detects (section)',
  ];
  const rows = tests.map((counts) => [
    counts.name,
    sole ? soleResult(counts, sole) : passes(counts, sequences),
    ...smallestFigures(smallest.get(counts.name)),
    detectsText(counts.name),
  ]);
  return markup`<section id="tests"><h2>Tests</h2>
${secondLevel.judged ? markup`<p>A sequence passes a test by the corrected p-value. These counts are no verdict on the source.</p>` : NOTHING}
${table('Results of the tests', columns, rows)}
</section>
`;
}

function detectsText(name: TestName): string {
  const { section, detects } = CATALOGUE[name];
  return `${detects} (§${section})`;
}

function smallestFigures(smallest: Smallest | undefined): string[] {
  if (!smallest) return ['–', '–', '–'];
  return [pValueText(smallest.p), pValueText(smallest.correctedP), grouped(smallest.count)];
}

function passes({ applicable, passed }: TestCounts, sequences: number): Content {
  if (applicable === 0) return 'not applicable';
  const rest = sequences - applicable;
  const others =
    rest > 0 ? markup`<br><span class="note">${grouped(rest)} not applicable</span>` : NOTHING;
  return markup`<span class="share"><i style="width:${((100 * passed) / applicable).toFixed(1)}%"></i></span><span class="counts">${grouped(passed)} of ${grouped(applicable)}${others}</span>`;
}

function soleResult({ name }: TestCounts, { tests }: SuiteReport): Content {
  const outcome = tests.find((test) => test.name === name);
  if (!outcome) return '';
  return outcome.applicable ? verdict(outcome) : `not applicable: ${outcome.reason}`;
}

function verdict({ passed, prerequisiteMet }: ApplicableOutcome): Markup {
  const isCarriedOut = passed || prerequisiteMet;
  const why = isCarriedOut ? '' : ' (not carried out: the share of ones is off)';
  return markup`${signedResult(passed)}${why}`;
}

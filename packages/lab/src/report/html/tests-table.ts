/** The table of the tests: what each detects, and the results of the sequences. */

import type { ApplicableOutcome, SuiteReport, TestName } from '../../../../sp800-22/src/index.ts';
import { CATALOGUE, grouped } from '../../../../sp800-22/src/index.ts';
import { pValueText } from '../p-value-text.ts';
import type { AssessSummary, TestCounts } from '../summary.ts';
import { type Content, type Markup, markup, NOTHING } from './markup.ts';

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
  const result = (counts: TestCounts): Content =>
    sole ? soleResult(counts, sole) : passes(counts, sequences);
  return markup`<section id="tests"><h2>Tests</h2>
${secondLevel.judged ? markup`<p>A sequence passes a test by the corrected p-value. These counts are no verdict on the source.</p>` : NOTHING}
<div class="scroll" tabindex="0"><table>
<caption>Results of the tests</caption>
<thead><tr><th scope="col">Test</th><th scope="col">${sole ? 'Result' : 'Sequences passed'}</th><th scope="col" class="number">Smallest p</th><th scope="col" class="number">Corrected</th><th scope="col" class="number">p-values</th><th scope="col">Detects (section)</th></tr></thead>
<tbody>
${tests.map(
  (
    counts,
  ) => markup`<tr><th scope="row">${counts.name}</th><td>${result(counts)}</td>${smallestCells(smallest.get(counts.name))}<td>${detectsText(counts.name)}</td></tr>
`,
)}</tbody></table></div>
</section>
`;
}

function detectsText(name: TestName): string {
  const { section, detects } = CATALOGUE[name];
  return `${detects} (§${section})`;
}

const NO_FIGURE = markup`<td class="number">–</td>`;

function smallestCells(smallest: Smallest | undefined): Markup {
  if (!smallest) return markup`${NO_FIGURE}${NO_FIGURE}${NO_FIGURE}`;
  return markup`<td class="number">${pValueText(smallest.p)}</td><td class="number">${pValueText(smallest.correctedP)}</td><td class="number">${grouped(smallest.count)}</td>`;
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
  if (passed) return markup`<span class="passed">✓ passed</span>`;
  const why = prerequisiteMet ? '' : ' (not carried out: the share of ones is off)';
  return markup`<span class="failed">✗ failed</span>${why}`;
}

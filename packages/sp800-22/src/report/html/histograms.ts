/** The section with every row of the second level: histogram of its p-values, P-value_T, proportion, verdict. */
import {
  ALPHA,
  type SecondLevelRow,
  type SecondLevelVerdict,
  TEST_NAMES,
  type TestName,
  UNIFORMITY_ALPHA,
} from '../../index.ts';
import { intervalText, pValueText } from '../format.ts';
import { rowNotes } from '../not-judged.ts';
import { grouped } from '../table.ts';
import { drawing, px } from './chart.ts';
import { type Markup, markup, NOTHING } from './markup.ts';

/** Tests with at most this many rows share a heading. */
const FEW_ROWS = 2;

export function histogramsSection({ rows, rowsJudged }: SecondLevelVerdict): Markup {
  const ofTest = (test: TestName) => rows.filter((row) => row.test === test && row.sequences > 0);
  const groups = TEST_NAMES.map((test) => ({ test, rows: ofTest(test) }));
  const few = groups.filter((group) => group.rows.length <= FEW_ROWS).flatMap(({ rows }) => rows);
  const many = groups.filter((group) => group.rows.length > FEW_ROWS);
  return markup`<section id="rows"><h2>All ${grouped(rowsJudged)} rows</h2>
<p>Each picture counts the p-values of one row in ten classes from 0 to 1; the line marks the expected count. P-value_T (§4.2.2), here P_T, measures their uniformity and should be at least ${UNIFORMITY_ALPHA}. Below it is the proportion: the number of sequences with p ≥ ${ALPHA}, not corrected. <b class="outside">*</b> marks a figure outside the standard's limit for one row; <span class="passed">✓</span> and <b class="failed">✗ FAILED</b> are the verdict on the row.</p>
${few.length > 0 ? rowGroup('Tests of one or two p-values', few, (row) => `${row.test} ${row.label}`) : NOTHING}
${many.map((group) => rowGroup(group.test, group.rows, ({ label }) => label))}
</section>
`;
}

function rowGroup(
  heading: string,
  rows: readonly SecondLevelRow[],
  nameOf: (row: SecondLevelRow) => string,
): Markup {
  const intervals = new Set(rows.flatMap((row) => (row.judged ? [intervalText(row)] : [])));
  return markup`<h3>${heading}</h3>
${[...intervals].map((text) => markup`<p class="note">${text}</p>`)}
<ul class="rows">
${rows.map((row) => rowCard(row, nameOf(row).trim()))}</ul>
`;
}

function rowCard(row: SecondLevelRow, name: string): Markup {
  const failed = row.judged && !row.passed;
  return markup`<li${failed ? markup` class="failed"` : NOTHING}><p><b>${breakable(name)}</b> ${rowVerdict(row)}</p>${histogram(row)}${figures(row)}</li>
`;
}

/** Allows a line break after each underscore of a long name. */
export function breakable(name: string): Markup[] {
  return name.split(/(?<=_)/).map((part, i) => markup`${i === 0 ? '' : WORD_BREAK}${part}`);
}

const WORD_BREAK = markup`<wbr>`;

function rowVerdict(row: SecondLevelRow): Markup {
  if (!row.judged) return markup`<span>not judged</span>`;
  return row.passed
    ? markup`<span class="passed" role="img" aria-label="passed">✓</span>`
    : markup`<span class="failed">✗ FAILED</span>`;
}

function figures(row: SecondLevelRow): Markup {
  const proportion = `${grouped(row.passes)} of ${grouped(row.sequences)}`;
  if (!row.judged) return markup`<span>${proportion}</span>`;
  const star = (within: boolean) =>
    within ? NOTHING : markup` <b class="outside" title="outside the limit for one row">*</b>`;
  const notes = rowNotes(row).map((note) => markup`<span>${note}</span>`);
  return markup`<span>P_T ${pValueText(row.uniformityP)}${star(row.uniform)}</span><span>${proportion}${star(row.inInterval)}</span>${notes}`;
}

const [WIDTH, HEIGHT, BAR] = [100, 30, 10];

/** Draws the histogram. The expected count is at half height, or lower if a class has more than twice as many. */
export function histogram({
  histogram: counts,
  sequences,
}: Pick<SecondLevelRow, 'histogram' | 'sequences'>): Markup {
  const expected = sequences / counts.length;
  const unit = HEIGHT / Math.max(2 * expected, ...counts);
  const bars = counts
    .map((count, i) => `M${i * BAR + 1} ${HEIGHT}v${px(-count * unit)}h${BAR - 2}V${HEIGHT}z`)
    .join('');
  const line = px(HEIGHT - expected * unit);
  return drawing(
    WIDTH,
    HEIGHT,
    `p-values in ten classes: ${counts.join(', ')}`,
    markup`<path class="bars" d="${bars}"/><path class="expected" d="M0 ${line}h${WIDTH}"/>`,
    'histogram',
  );
}

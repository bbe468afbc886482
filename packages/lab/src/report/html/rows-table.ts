/** Rows of the second level as tables: everything that the verdict on each rests on, and the standard's own figures. */

import {
  ALPHA,
  type Check,
  grouped,
  type SecondLevelRow,
  type SecondLevelVerdict,
  TEST_NAMES,
  type TestName,
} from '../../../../sp800-22/src/index.ts';
import { pValueText } from '../p-value-text.ts';
import { intervalText, rowName } from '../second-level-text.ts';
import { countText } from '../text.ts';
import { histogram } from './histogram.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { signedVerdict } from './table.ts';

/** Tests with at most this many rows share a heading. */
const FEW_ROWS = 2;

/** Rows under a heading of their own. */
interface RowGroup {
  /** Empty: no heading. */
  readonly heading: string;
  readonly rows: readonly SecondLevelRow[];
  readonly nameOf: (row: SecondLevelRow) => string;
}

/** Returns the section with all rows. */
export function rowsSection(secondLevel: SecondLevelVerdict): Markup {
  const { rows, rowsJudged, checkAlpha } = secondLevel;
  const ofTest = (test: TestName) => rows.filter((row) => row.test === test && row.sequences > 0);
  const groups = TEST_NAMES.map((test) => ({ test, rows: ofTest(test) }));
  const few = groups.filter((group) => group.rows.length <= FEW_ROWS).flatMap(({ rows }) => rows);
  const many = groups.filter((group) => group.rows.length > FEW_ROWS);
  const unjudged = groups.flatMap((group) => group.rows).filter((row) => !row.judged).length;
  const title = `All ${grouped(rowsJudged + unjudged)} rows`;
  return markup`<section id="rows"><h2>${title}</h2>
<p>The verdict on a row rests on two probabilities, each of which fails below ${pValueText(checkAlpha)}: binomial p, of the number of sequences with p ≥ ${ALPHA}, and uniformity p, of the ten classes, both compared with a sound source at this length. P_T is P-value_T of §4.2.2, for comparison: it takes p-values as uniform. <b class="outside">*</b> marks a figure outside the standard's limit for one row, which decides nothing here.</p>
${rowsTable(
  'p-values in ten classes, C1 = [0, 0.1) to C10 = [0.9, 1], and the checks',
  checkAlpha,
  [
    ...(few.length > 0
      ? [{ heading: 'Tests of one or two p-values', rows: few, nameOf: rowName }]
      : []),
    ...many.map(({ test, rows }) => ({
      heading: test,
      rows,
      nameOf: ({ label }: SecondLevelRow) => label,
    })),
  ],
)}
</section>
`;
}

/** Returns a table of rows. It marks the checks below `checkAlpha`. */
export function rowsTable(
  caption: string,
  checkAlpha: number,
  groups: readonly RowGroup[],
): Markup {
  return markup`<div class="scroll" tabindex="0"><table class="checks">
<caption>${caption}</caption>
<thead><tr><th scope="col">Row</th><th scope="col" colspan="2">C1 … C10</th><th scope="col" class="number">p ≥ ${ALPHA}</th><th scope="col" class="number">Binomial p</th><th scope="col" class="number">Uniformity p</th><th scope="col" class="number">P_T</th><th scope="col">Verdict</th></tr></thead>
${groups.map((group) => rowGroup(group, checkAlpha))}</table></div>`;
}

function rowGroup({ heading, rows, nameOf }: RowGroup, checkAlpha: number): Markup {
  const intervals = new Set(rows.flatMap((row) => (row.judged ? [intervalText(row)] : [])));
  const title = markup`<tr class="group"><th scope="rowgroup" colspan="8">${heading} <span>${[...intervals].join(' ')}</span></th></tr>
`;
  return markup`<tbody>
${heading === '' ? NOTHING : title}${rows.map((row) => tableRow(row, nameOf(row), checkAlpha))}</tbody>
`;
}

function tableRow(row: SecondLevelRow, name: string, checkAlpha: number): Markup {
  const failed = row.judged && !row.passed;
  return markup`<tr${failed ? markup` class="failed"` : NOTHING}><th scope="row">${name}</th><td>${histogram(row)}</td><td class="classes">${row.histogram.join(' ')}</td>${resultCells(row, checkAlpha)}</tr>
`;
}

function resultCells(row: SecondLevelRow, checkAlpha: number): Markup {
  const proportion = `${grouped(row.passes)} of ${grouped(row.sequences)}`;
  if (!row.judged) {
    return markup`<td class="number">${proportion}</td><td class="number">–</td><td class="number">–</td><td class="number">–</td><td>not judged</td>`;
  }
  const { proportionCheck, uniformityCheck, uniformityP, uniform, inInterval, passed } = row;
  return markup`<td class="number">${proportion}${star(inInterval)}</td>${checkCell(proportionCheck, checkAlpha)}${checkCell(uniformityCheck, checkAlpha)}<td class="number">${pValueText(uniformityP)}${star(uniform)}</td><td>${signedVerdict(passed)}</td>`;
}

function star(isWithin: boolean): Markup {
  return isWithin
    ? NOTHING
    : markup` <b class="outside" title="outside the limit for one row">*</b>`;
}

function checkCell(check: Check, checkAlpha: number): Markup {
  if (!check.judged) return markup`<td class="number">not judged</td>`;
  const { p, limit } = check;
  const text = p < checkAlpha ? markup`<b class="failed">${pValueText(p)}</b>` : pValueText(p);
  const note =
    limit === undefined ? NOTHING : markup`<br><span class="note">as of ${countText(limit)}</span>`;
  return markup`<td class="number">${text}${note}</td>`;
}

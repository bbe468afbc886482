/** The table of the failing sequences: where each is in the input, and what it failed. */

import { ALPHA, grouped, TEST_NAMES } from '../../../../sp800-22/src/index.ts';
import type { FailingSequences, SequenceResult } from '../failing-sequences.ts';
import { pValueText } from '../p-value-text.ts';
import { countText } from '../text.ts';
import { type Content, type Markup, markup, NOTHING } from './markup.ts';
import { table } from './table.ts';

/** Failing sequences that the page lists. */
export const LISTED_SEQUENCES = 30;

/** Where sequences are in the input. */
export interface Layout {
  readonly sequences: number;
  /** Bits of a sequence. */
  readonly bits: number;
  /** Bits before the first sequence. */
  readonly offsetBits: number;
  /** Tests and supplements that were run. */
  readonly tests: number;
}

/** Returns the section, or nothing if no sequence failed. */
export function failingSection(failing: FailingSequences, layout: Layout): Markup {
  const { count, listed } = failing;
  if (count === 0) return NOTHING;
  const rest = count - listed.length;
  const which =
    rest > 0 ? ` The ${listed.length} worst are listed; ${grouped(rest)} more failed.` : '';
  const columns = [
    { figures: 'Sequence' },
    { figures: 'From bit' },
    { figures: 'To bit' },
    'Failed tests, corrected p-value',
  ];
  const rows = listed.map((result) => cells(result, layout));
  return markup`<section id="failing"><h2>Failing sequences</h2>
<p>${grouped(count)} of ${countText(layout.sequences)} failed one or more tests.${which} ${byChance(layout)} The verdict on the source does not rest on this list.</p>
${table('Sequences with a failed test, and their place in the input', columns, rows)}
</section>
`;
}

/** Of the 15 tests, one sound sequence in eight fails one or more; the dependence of fewer tests is not known. */
function byChance({ tests, sequences }: Layout): string {
  const isWhole = tests === TEST_NAMES.length;
  const share = isWhole ? 1 / 8 : Math.min(1, ALPHA * tests);
  const count = Math.round(share * sequences);
  return `By chance, ${isWhole ? '' : 'at most '}about ${grouped(count)} of ${grouped(sequences)} sound sequences fail one.`;
}

function cells({ index, failed }: SequenceResult, { bits, offsetBits }: Layout): Content[] {
  const from = offsetBits + index * bits;
  const tests = failed.map(
    ({ name, correctedP }, i) =>
      markup`${i === 0 ? '' : ', '}<span class="counts">${name} ${pValueText(correctedP)}</span>`,
  );
  return [grouped(index + 1), grouped(from), grouped(from + bits - 1), tests];
}

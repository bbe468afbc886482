/** The section of the supplements: their results, and that they are not part of the standard. */

import {
  grouped,
  NOT_OF_STANDARD,
  type SecondLevelVerdict,
  type SuiteReport,
} from '../../../../sp800-22/src/index.ts';
import { pValueText } from '../p-value-text.ts';
import { rowName } from '../second-level-text.ts';
import type { AssessSummary, SupplementCounts } from '../summary.ts';
import { findingText, SUPPLEMENT_DETECTS } from '../supplements.ts';
import { type Content, type Markup, markup, NOTHING } from './markup.ts';
import { rowsTable } from './rows-table.ts';
import { signedResult, table } from './table.ts';

/** Returns the section, or nothing without supplements. `sole` is the report if there is a single sequence. */
export function supplementsSection(
  { supplements, tests: ofStandard }: AssessSummary,
  sole: SuiteReport | undefined,
): Markup {
  if (!supplements) return NOTHING;
  const { tests, secondLevel } = supplements;
  const columns = [
    'Supplement',
    sole ? 'Result' : 'Sequences passed',
    { figures: 'Smallest p' },
    'Detects',
  ];
  const rows = tests.map((counts) => [
    counts.name,
    sole ? soleResult(counts, sole) : passes(counts),
    counts.smallest === null ? '–' : pValueText(counts.smallest),
    SUPPLEMENT_DETECTS[counts.name],
  ]);
  return markup`<section id="supplements"><h2>Supplements, ${NOT_OF_STANDARD}</h2>
<p>${ofStandard.length === 0 ? '' : 'They are not counted with the tests.'}</p>
${table('Results of the supplements', columns, rows)}
${secondLevel.judged ? checksOf(secondLevel) : NOTHING}
</section>
`;
}

function checksOf({ rows, checkAlpha }: SecondLevelVerdict): Markup {
  return rowsTable(
    `Checks of the supplements: one fails below ${pValueText(checkAlpha)}`,
    checkAlpha,
    [{ heading: '', rows, nameOf: rowName }],
  );
}

function passes({ applicable, passed }: SupplementCounts): Content {
  return applicable === 0 ? 'not applicable' : `${grouped(passed)} of ${grouped(applicable)}`;
}

function soleResult({ name }: SupplementCounts, { supplements = [] }: SuiteReport): Content {
  const outcome = supplements.find((one) => one.name === name);
  if (!outcome) return '';
  if (!outcome.applicable) return `not applicable: ${outcome.reason}`;
  return markup`${signedResult(outcome.passed)} (${findingText(outcome)})`;
}

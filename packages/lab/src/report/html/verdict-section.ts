/** The verdict of the run in words and counts, and what it does not prove. */

import {
  grouped,
  NOT_OF_STANDARD,
  SECOND_LEVEL_MINIMUM_SEQUENCES,
  type SecondLevelRow,
  type SuiteReport,
  TEST_NAMES,
  UNIFORMITY_ALPHA,
} from '../../../../sp800-22/src/index.ts';
import { longStreamVerdict } from '../long-streams.ts';
import { pValueText } from '../p-value-text.ts';
import { notJudgedTexts, rowName } from '../second-level-text.ts';
import type { AssessSummary, GroupSummary } from '../summary.ts';
import { countText } from '../text.ts';
import { NO_CERTIFICATE, partRows, passedText, smallestText, sourceText } from '../verdict-text.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { rowsTable } from './rows-table.ts';
import { signedVerdict, table } from './table.ts';

/** A key figure of the page, and what it counts. */
interface Figure {
  readonly value: string;
  readonly what: string;
}

/** Returns the section. `first` is the report on the first sequence; `sole` is the same if there is no other. */
export function verdictSection(
  summary: AssessSummary,
  first: SuiteReport,
  sole: SuiteReport | undefined,
): Markup {
  const { tests, supplements, complete, sequences } = summary;
  const state = STATES.get(summary.passed) ?? 'open';
  const early = complete
    ? NOTHING
    : markup`<p><strong>Ended early:</strong> this report covers only what was finished: ${countText(sequences)}.</p>`;
  return markup`<section id="verdict" class="verdict ${state}">
<h2><span class="sign" aria-hidden="true">${SIGNS[state]}</span>${sourceText(summary)}</h2>
${early}
<dl>${figuresOf(summary, first, sole).map(({ value, what }) => markup`<div><dt>${what}</dt><dd>${value}</dd></div>`)}</dl>
${tests.length > 0 ? partsTable(summary, 'Parts of the verdict') : NOTHING}
${supplements ? partsTable(supplements, `Parts of the verdict by the supplements, ${NOT_OF_STANDARD}`) : NOTHING}
${failedRows(summary)}
${sentencesOf(summary, sole).map((sentence) => markup`<p>${sentence}</p>`)}
</section>`;
}

/** The section that says what no result shows. */
export const LIMITS: Markup = markup`<section class="limits"><h2>What this does not prove</h2>
<ul>
<li><b>Not unpredictability.</b> The output of a generator whose seed is known passes, and so does a sound block cipher in counter mode under a key that an attacker knows. These tests find gross defects.</li>
<li><b>Not entropy.</b> Nothing in this report shows how much entropy the input has.</li>
<li><b>Not a certificate.</b> ${NO_CERTIFICATE.join(' ')} In April 2022 NIST <a href="https://csrc.nist.gov/news/2022/decision-to-revise-nist-sp-800-22-rev-1a" rel="noreferrer">decided to revise SP 800-22</a>, in particular to reject its use for assessing cryptographic random number generators.</li>
</ul>
</section>`;

type State = 'passed' | 'failed' | 'open';

const STATES = new Map<boolean | null, State>([
  [true, 'passed'],
  [false, 'failed'],
  [null, 'open'],
]);

const SIGNS: Readonly<Record<State, string>> = { passed: '✓', failed: '✗', open: '–' };

function figuresOf(
  { tests, sequences, secondLevel }: AssessSummary,
  first: SuiteReport,
  sole: SuiteReport | undefined,
): Figure[] {
  if (sole) return [{ value: grouped(sole.bits), what: 'bits' }, ...testFigures(sole)];
  const size = [
    { value: grouped(sequences), what: 'sequences' },
    { value: grouped(first.bits), what: 'bits each' },
  ];
  if (secondLevel.judged) {
    const expected = secondLevel.expectedOutsideInterval.toFixed(2);
    return [
      ...size,
      {
        value: `${secondLevel.rowsOutsideInterval}`,
        what: `rows outside ±3σ; ${expected} expected`,
      },
      {
        value: `${secondLevel.rowsNotUniform}`,
        what: `rows with P-value_T below ${UNIFORMITY_ALPHA}`,
      },
    ];
  }
  if (tests.length === 0) return size;
  const failed = tests.reduce((sum, { applicable, passed }) => sum + applicable - passed, 0);
  return [...size, { value: grouped(failed), what: 'single tests failed' }];
}

function testFigures({ testsPassed, totalTests, tests }: SuiteReport): Figure[] {
  if (tests.length === 0) return [];
  return [
    { value: String(testsPassed), what: 'tests passed' },
    { value: String(totalTests - testsPassed), what: 'tests failed' },
    { value: String(tests.length - totalTests), what: 'not applicable' },
  ];
}

function partsTable(group: GroupSummary, caption: string): Markup {
  const columns = ['Part', { figures: 'p' }, { figures: 'Limit' }, 'Result', 'Most extreme'];
  const rows = partRows(group).map(({ part, title, p, limit, result, found }) => [
    title,
    p,
    limit,
    part.judged ? signedVerdict(part.passed) : result,
    found,
  ]);
  return table(caption, columns, rows);
}

/** Maximum number of failed rows in the verdict; the section of all rows marks every one. */
const LISTED_FAILURES = 10;

function failedRows({ secondLevel }: AssessSummary): Markup {
  if (!secondLevel.judged) return NOTHING;
  const rows: readonly SecondLevelRow[] = secondLevel.rows.filter(
    (row) => row.judged && !row.passed,
  );
  if (rows.length === 0) return NOTHING;
  const { checkAlpha } = secondLevel;
  const more = rows.length - LISTED_FAILURES;
  const which = more > 0 ? `; ${grouped(more)} more are in the section of all rows` : '';
  const caption = `Rows that FAILED: a check is below ${pValueText(checkAlpha)}${which}`;
  const listed = rows.slice(0, LISTED_FAILURES);
  return rowsTable(caption, checkAlpha, [{ heading: '', rows: listed, nameOf: rowName }]);
}

function sentencesOf(summary: AssessSummary, sole: SuiteReport | undefined): string[] {
  const { smallest, supplements, secondLevel, sequences, longStreams, passed } = summary;
  return [
    ...(longStreams ? [longStreamVerdict(longStreams)] : []),
    ...(smallest ? [smallestText(smallest)] : []),
    ...(supplements?.smallest ? [`Supplements: ${smallestText(supplements.smallest)}`] : []),
    ...(sole ? soleTexts(sole, passed) : []),
    ...(secondLevel.judged ? notJudgedTexts(secondLevel) : []),
    // Few sequences are enough for a failure.
    ...(passed !== false && sequences < SECOND_LEVEL_MINIMUM_SEQUENCES ? [FEW_SAY_LITTLE] : []),
  ];
}

const FEW_SAY_LITTLE = `Few sequences say little about their source. The standard judges a source by ${SECOND_LEVEL_MINIMUM_SEQUENCES} or more (§4.2).`;

const BY_CHANCE = 'About one sound sequence in eight fails one or more of the 15 tests by chance.';

/** With more failed tests than this the page does not mention chance. */
const FAILED_BY_CHANCE = 2;

/** `passed` is the verdict on the source: a failure is not by chance. */
function soleTexts(
  { tests, testsPassed, totalTests, supplements = [] }: SuiteReport,
  passed: boolean | null,
): string[] {
  const failed = [...tests, ...supplements].filter((one) => one.applicable && !one.passed);
  const isChance =
    passed !== false && tests.length === TEST_NAMES.length && failed.length <= FAILED_BY_CHANCE;
  return [
    ...(tests.length > 0 ? [`${passedText(testsPassed, totalTests, tests.length)}.`] : []),
    ...(failed.length > 0 ? [`Failed: ${failed.map(({ name }) => name).join(', ')}.`] : []),
    ...(isChance ? [BY_CHANCE] : []),
  ];
}

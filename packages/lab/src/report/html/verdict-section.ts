/** The verdict of the run in words and counts, and what it does not prove. */

import {
  grouped,
  NOT_OF_STANDARD,
  type SecondLevelRow,
  type SuiteReport,
  TEST_NAMES,
  testLevelP,
  UNIFORMITY_ALPHA,
} from '../../../../sp800-22/src/index.ts';
import { allSequencesTexts, NO_CERTIFICATE, passedText, pValueText, rowName } from '../format.ts';
import { longStreamVerdict } from '../long-streams.ts';
import { notJudgedTexts } from '../not-judged.ts';
import { type AssessSummary, hasPassed, type SupplementSummary } from '../summary.ts';
import { supplementVerdict } from '../supplements.ts';
import { countText } from '../table.ts';
import { type Content, type Markup, markup, NOTHING } from './markup.ts';
import { rowsTable } from './rows-table.ts';

interface Verdict {
  readonly state: 'passed' | 'failed' | 'open';
  readonly title: string;
  readonly figures: readonly Figure[];
  /** The rows that failed the source, if any. */
  readonly failures?: Markup;
  readonly sentences: readonly Content[];
}

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
  const ofSequences = sole ? verdictOnSequence(sole) : verdictOnSource(summary, first.bits);
  const verdict = withStreams(ofSequences, summary);
  const { state, title, figures, failures = NOTHING, sentences } = verdict;
  const early = summary.complete
    ? NOTHING
    : markup`<p><strong>Ended early:</strong> this report covers only what was finished: ${countText(summary.sequences)}.</p>`;
  return markup`<section id="verdict" class="verdict ${state}">
<h2><span class="sign" aria-hidden="true">${SIGNS[state]}</span>${title}</h2>
${early}
<dl>${figures.map(({ value, what }) => markup`<div><dt>${what}</dt><dd>${value}</dd></div>`)}</dl>
${failures}
${sentences.map((sentence) => markup`<p>${sentence}</p>`)}
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

const SIGNS: Readonly<Record<Verdict['state'], string>> = { passed: '✓', failed: '✗', open: '–' };

/** Adds the verdict on long streams, which are in every other figure of the page. */
function withStreams(verdict: Verdict, { longStreams }: AssessSummary): Verdict {
  if (!longStreams) return verdict;
  const sentences = [longStreamVerdict(longStreams), ...verdict.sentences];
  if (longStreams.passed) return { ...verdict, sentences };
  return { ...verdict, state: 'failed', title: `${verdict.title}; long streams FAILED`, sentences };
}

const BY_CHANCE = 'About one sound sequence in eight fails one or more of the 15 tests by chance.';

/** With more failed tests than this, or with one below this p-value, the page does not mention chance. */
const FAILED_BY_CHANCE = 2;
const SMALLEST_BY_CHANCE = 1e-4;

const ONE_SAYS_LITTLE =
  'One sequence says little about its source. The standard judges a source by many (§4.2), which were not tested here.';

function verdictOnSequence(report: SuiteReport): Verdict {
  const { tests, testsPassed, totalTests, bits, supplements = [] } = report;
  const failedSupplements = supplements
    .filter((one) => one.applicable && !one.passed)
    .map(({ name }) => name);
  const applicable = tests.filter((test) => test.applicable);
  const failed = applicable.filter(({ passed }) => !passed).map(({ name }) => name);
  const worst = Math.min(1, ...applicable.map(({ pValues }) => testLevelP(pValues)));
  const isChance = failed.length <= FAILED_BY_CHANCE && worst >= SMALLEST_BY_CHANCE;
  const judged = totalTests + supplements.filter((one) => one.applicable).length;
  const isFailed = failed.length + failedSupplements.length > 0;
  const ofTests = passedText(
    testsPassed,
    totalTests,
    tests.length,
    failed.length > 0 ? `, ${failed.length} FAILED` : '',
  );
  return {
    state: isFailed ? 'failed' : judged === 0 ? 'open' : 'passed',
    title: [
      ...(tests.length > 0 ? [ofTests] : []),
      ...(supplements.length > 0 ? [supplementsText(supplements, failedSupplements.length)] : []),
    ].join('; '),
    figures: [
      { value: grouped(bits), what: 'bits' },
      ...(tests.length > 0 ? testFigures(report, failed.length) : []),
    ],
    sentences: [
      ...(failed.length > 0 ? [`FAILED: ${failed.join(', ')}.`] : []),
      ...(failedSupplements.length > 0
        ? [`FAILED supplements, ${NOT_OF_STANDARD}: ${failedSupplements.join(', ')}.`]
        : []),
      ...(isChance && tests.length === TEST_NAMES.length ? [BY_CHANCE] : []),
      ONE_SAYS_LITTLE,
    ],
  };
}

function testFigures({ testsPassed, totalTests, tests }: SuiteReport, failed: number): Figure[] {
  return [
    { value: String(testsPassed), what: 'tests passed' },
    { value: String(failed), what: 'tests failed' },
    { value: String(tests.length - totalTests), what: 'not applicable' },
  ];
}

function supplementsText(supplements: readonly { applicable: boolean }[], failed: number): string {
  const applicable = supplements.filter((one) => one.applicable).length;
  const text = `${applicable - failed} of ${applicable} applicable supplements passed`;
  return failed > 0 ? `${text}, ${failed} FAILED` : text;
}

function verdictOnSource(summary: AssessSummary, bits: number): Verdict {
  const { sequences, secondLevel } = summary;
  const size = [
    { value: grouped(sequences), what: 'sequences' },
    { value: grouped(bits), what: 'bits each' },
  ];
  if (!secondLevel.judged) {
    return verdictOnTests(summary, size, secondLevel.reason);
  }
  const { passed, rows, rowsJudged, rowsFailed, checkAlpha } = secondLevel;
  const { supplements } = summary;
  const ofTests = `Second level ${passed ? 'passed' : 'FAILED'}: ${grouped(rowsFailed)} of ${grouped(rowsJudged)} rows failed`;
  const failed = rows.filter((row) => row.judged && !row.passed);
  return {
    state: hasPassed(summary) ? 'passed' : 'failed',
    title: supplementsFailed(supplements) ? `${ofTests}; supplements FAILED` : ofTests,
    figures: [
      ...size,
      {
        value: `${secondLevel.rowsOutsideInterval}`,
        what: `rows outside ±3σ; ${secondLevel.expectedOutsideInterval.toFixed(2)} expected`,
      },
      {
        value: `${secondLevel.rowsNotUniform}`,
        what: `rows with P-value_T below ${UNIFORMITY_ALPHA}`,
      },
    ],
    failures: failed.length > 0 ? failedRows(failed, checkAlpha) : NOTHING,
    sentences: [...supplementTexts(supplements), ...notJudgedTexts(secondLevel)],
  };
}

/** Reports whether the supplements fail the source, by the second level or by all sequences together. */
function supplementsFailed(supplements: SupplementSummary | undefined): boolean {
  if (!supplements) return false;
  const { secondLevel, allSequences } = supplements;
  return secondLevel.judged ? !secondLevel.passed : allSequences?.passed === false;
}

function supplementsTitle({ secondLevel, allSequences }: SupplementSummary): string {
  if (!secondLevel.judged && allSequences?.passed === false) return 'Supplements: FAILED';
  return supplementVerdict(secondLevel).replace(/\.$/, '');
}

function supplementTexts(supplements: SupplementSummary | undefined): Content[] {
  if (!supplements) return [];
  const { secondLevel, allSequences } = supplements;
  const verdict = `${supplementVerdict(secondLevel)} They are ${NOT_OF_STANDARD}.`;
  return [verdict, ...allSequencesTexts(allSequences)];
}

/** Maximum number of failed rows in the verdict; the section of all rows marks every one. */
const LISTED_FAILURES = 10;

function failedRows(rows: readonly SecondLevelRow[], checkAlpha: number): Markup {
  const more = rows.length - LISTED_FAILURES;
  const which = more > 0 ? `; ${grouped(more)} more are in the section of all rows` : '';
  const caption = `Rows that FAILED: a check is below ${pValueText(checkAlpha)}${which}`;
  const listed = rows.slice(0, LISTED_FAILURES);
  return rowsTable(caption, checkAlpha, [{ heading: '', rows: listed, nameOf: rowName }]);
}

const STATES = new Map<boolean | null, Verdict['state']>([
  [true, 'passed'],
  [false, 'failed'],
  [null, 'open'],
]);

/** Returns the verdict where the second level judges no test: a count of all single tests, and the supplements. */
function verdictOnTests(summary: AssessSummary, size: readonly Figure[], reason: string): Verdict {
  const { tests, allSequences, supplements } = summary;
  const passed = tests.reduce((sum, test) => sum + test.passed, 0);
  const applicable = tests.reduce((sum, test) => sum + test.applicable, 0);
  const isFailed = allSequences?.passed === false;
  const single = `${grouped(passed)} of ${grouped(applicable)} single tests passed`;
  const ofTests = `${single}, source ${isFailed ? 'FAILED' : 'not judged'}`;
  return {
    state: STATES.get(hasPassed(summary)) ?? 'open',
    title: [
      ...(tests.length > 0 ? [ofTests] : []),
      ...(supplements && (tests.length === 0 || supplementsFailed(supplements))
        ? [supplementsTitle(supplements)]
        : []),
    ].join('; '),
    figures: [
      ...size,
      ...(tests.length > 0
        ? [{ value: grouped(applicable - passed), what: 'single tests failed' }]
        : []),
    ],
    sentences: [
      ...(tests.length > 0 ? [`Second level (SP 800-22 §4.2): not judged, ${reason}.`] : []),
      ...allSequencesTexts(allSequences),
      ...supplementTexts(supplements),
      'For a sound source, about one single test in a hundred fails.',
    ],
  };
}

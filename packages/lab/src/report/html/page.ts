/** The page of `phm assess --html`: one file that loads nothing and runs no script. */

import {
  ALPHA,
  grouped,
  NOT_OF_STANDARD,
  type SuiteReport,
  type TestName,
} from '../../../../sp800-22/src/index.ts';
import type { FailingSequences } from '../failing-sequences.ts';
import type { AssessSummary } from '../summary.ts';
import { countText } from '../text.ts';
import { type TraceJson, type TraceRow, testedText } from '../trace.ts';
import { heading } from '../verdict-text.ts';
import { distributionSection, type PValueClasses } from './distribution.ts';
import { failingSection, type Layout } from './failing-section.ts';
import { longStreamsSection } from './long-streams.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { pValueFigure, type TestPValues } from './p-value-plot.ts';
import { formatFrame } from './page-frame.ts';
import { proportionFigure } from './proportion-plot.ts';
import { reportSection } from './report-section.ts';
import { rowsSection } from './rows-table.ts';
import { ruleSection } from './rule-section.ts';
import { supplementsSection } from './supplements.ts';
import { type Smallest, testsTable } from './tests-table.ts';
import { LIMITS, verdictSection } from './verdict-section.ts';

export interface PageContent {
  /** Name of the input. */
  readonly input: string;
  /** Whether the picture of the bits is left out. */
  readonly omitBits: boolean;
  /** The program that writes the page, and its version. */
  readonly program: string;
  /** Names and values of what the report was made from and by. */
  readonly trace: readonly TraceRow[];
  /** The same facts as members of the JSON. */
  readonly facts: TraceJson | undefined;
  readonly summary: AssessSummary;
  /** The report on the first sequence. */
  readonly first: SuiteReport;
  readonly smallest: ReadonlyMap<TestName, Smallest>;
  /** The p-values of the first `plotted` sequences. */
  readonly pValues: readonly TestPValues[];
  readonly plotted: number;
  readonly failing: FailingSequences;
  readonly classes: PValueClasses;
  readonly pictures: Pictures;
}

/** Figures of the first sequence, and of the worst one if that is another. */
export interface Pictures {
  readonly first: readonly Markup[];
  readonly worst?: {
    readonly number: number;
    readonly text: string;
    readonly figures: readonly Markup[];
  };
}

const CONTAINS_BITS = ' Contains bits of the item: as secret as the item.';

/** Returns the page as text. */
export function formatPage(content: PageContent): string {
  const { input, facts, omitBits, trace, program } = content;
  return formatFrame({
    title: `SP 800-22 report on ${input}`,
    facts,
    ...(omitBits ? {} : { footnote: CONTAINS_BITS }),
    header: header(content),
    sections: sectionsOf(content),
    trace,
    standard: STANDARD,
    program,
  });
}

const STANDARD = markup`<a href="https://doi.org/10.6028/NIST.SP.800-22r1a" rel="noreferrer">SP 800-22 Rev. 1a</a>, “A Statistical Test Suite for Random and Pseudorandom Number Generators for Cryptographic Applications”`;

function sectionsOf(content: PageContent): Markup {
  const { summary, first, smallest, facts } = content;
  const sole = summary.sequences === 1 && summary.complete ? first : undefined;
  return markup`${facts ? reportSection(facts, facts.input, testedRows(facts.input, first, summary)) : NOTHING}
${verdictSection(summary, first, sole)}
${ruleSection(summary, first)}
${LIMITS}
${summary.tests.length > 0 ? testsTable(summary, smallest, sole) : NOTHING}
${supplementsSection(summary, sole)}${longStreamsSection(summary.longStreams)}${summary.tests.length > 0 ? sourceSection(content) : NOTHING}
${sole ? NOTHING : failingSection(content.failing, layoutOf(content))}
${summary.secondLevel.judged ? distributionSection(content.classes, applicableOf(summary)) : NOTHING}
${picturesSection(content)}
${summary.secondLevel.judged ? rowsSection(summary.secondLevel) : NOTHING}`;
}

/** Returns what was tested, and how. */
function testedRows(
  input: TraceJson['input'],
  { tests, bits, constants }: SuiteReport,
  { sequences, complete }: AssessSummary,
): [name: string, value: string][] {
  const method =
    tests.length === 0
      ? `Supplements, ${NOT_OF_STANDARD}`
      : `NIST SP 800-22 Rev. 1a (April 2010), ${constants} constants`;
  const size = `${countText(sequences)} of ${grouped(bits)} bits`;
  return [
    ['Bits tested', testedText(input, sequences * bits)],
    ['Method', `${method}, ${size}${complete ? '' : '; ended early'}`],
  ];
}

function header({ input, summary, trace, failing, first }: PageContent): Markup {
  const { sequences, complete, secondLevel, supplements } = summary;
  const links: [id: string, text: string][] = [
    ['verdict', 'Verdict'],
    ['rule', 'Decision rule'],
  ];
  if (summary.tests.length > 0) links.push(['tests', 'Tests']);
  if (supplements) links.push(['supplements', 'Supplements']);
  if (summary.longStreams?.streams) links.push(['long-streams', 'Long streams']);
  if (summary.tests.length > 0) {
    links.push(['source', secondLevel.judged ? 'Proportions' : 'p-values']);
  }
  if (sequences > 1 && failing.count > 0) links.push(['failing', 'Failing sequences']);
  if (secondLevel.judged) links.push(['distribution', 'Distribution']);
  links.push(['pictures', 'Pictures']);
  if (secondLevel.judged) links.push(['rows', 'All rows']);
  if (trace.length > 0) links.push(['trace', 'Input and settings']);
  return markup`<header>
<p class="kicker">Report: statistical tests of random bits</p>
<h1><bdi>${input}</bdi></h1>
<p>${heading(first, sequences)}${complete ? '' : markup`; <strong class="failed">ended early</strong>`}</p>
<nav aria-label="Parts of this report"><ul>${links.map(([id, text]) => markup`<li><a href="#${id}">${text}</a></li>`)}</ul></nav>
</header>`;
}

function sourceSection({ summary, pValues, plotted }: PageContent): Markup {
  const { secondLevel, sequences } = summary;
  const which = `${plotted < sequences ? 'the first ' : ''}${countText(plotted)}`;
  const plot = secondLevel.judged ? proportionFigure(secondLevel) : pValueFigure(pValues, which);
  const title = secondLevel.judged ? `Proportion of sequences with p ≥ ${ALPHA}` : 'p-values';
  return markup`<section id="source"><h2>${title}</h2>
${plot}</section>`;
}

function picturesSection({ pictures: { first, worst }, omitBits }: PageContent): Markup {
  const title = worst ? `Sequences 1 and ${grouped(worst.number)}` : 'Sequence 1';
  const figures = first.flatMap((one, i) => [one, worst?.figures[i] ?? NOTHING]);
  return markup`<section id="pictures"><h2>${title} in pictures</h2>
<p>The pictures show structure that the eye sees at a glance; the verdict does not rest on them. ${omitBits ? 'The picture of the bits is left out.' : 'The picture of the bits makes this report as secret as the input.'}</p>
${worst ? markup`<p>${worst.text}</p>` : NOTHING}
<div class="pictures${worst ? ' two' : ''}">
${figures}</div>
</section>`;
}

function layoutOf({ facts, first, summary }: PageContent): Layout {
  const offsetBits = facts?.input.offset_bits ?? 0;
  const tests = summary.tests.length + (summary.supplements?.tests.length ?? 0);
  return { sequences: summary.sequences, bits: first.bits, offsetBits, tests };
}

function applicableOf({ tests }: AssessSummary): ReadonlyMap<TestName, number> {
  return new Map(tests.map(({ name, applicable }) => [name, applicable]));
}

/** The page of `phm assess --html`: one file that loads nothing and runs no script. */
import { ALPHA, type SuiteReport, type TestName } from '../../index.ts';
import { CONSTANTS_NOTE, heading } from '../format.ts';
import type { AssessSummary } from '../summary.ts';
import { countText, grouped } from '../table.ts';
import { histogramsSection } from './histograms.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { pValueFigure, type TestPValues } from './p-value-plot.ts';
import { proportionFigure } from './proportion-plot.ts';
import { STYLE } from './style.ts';
import { type Smallest, testsTable } from './tests-table.ts';
import { verdictSection } from './verdict-section.ts';

export interface PageContent {
  /** Name of the input. */
  readonly input: string;
  /** The program that writes the page, and its version. */
  readonly program: string;
  readonly summary: AssessSummary;
  /** The report on the first sequence. */
  readonly first: SuiteReport;
  readonly smallest: ReadonlyMap<TestName, Smallest>;
  /** The p-values of the first `plotted` sequences. */
  readonly pValues: readonly TestPValues[];
  readonly plotted: number;
  /** Figures of the first sequence. */
  readonly pictures: Markup;
}

/** Forbids the page to load, run or send anything: its text, styles and pictures are all in it. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** Returns the page as text. It has no date, so the same input gives the same page. */
export function formatPage(content: PageContent): string {
  const { input, summary, first, smallest, pictures } = content;
  const sole = summary.sequences === 1 && summary.complete ? first : undefined;
  const page = markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>SP 800-22 report on ${input}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
${header(content)}
<main>
${verdictSection(summary, first, sole)}
${testsTable(summary, smallest, sole)}
${sourceSection(content)}
<section id="pictures"><h2>Sequence 1 in pictures</h2>
<p>The pictures show structure that the eye sees at a glance; the verdict does not rest on them. They contain bits of the input and are as secret as the input.</p>
<div class="pictures">
${pictures}</div>
</section>
${summary.secondLevel.judged ? histogramsSection(summary.secondLevel) : NOTHING}
</main>
${footer(content)}
</body>
</html>
`;
  return page.text;
}

function header({ input, summary, first: { bits, constants } }: PageContent): Markup {
  const { sequences, complete, secondLevel } = summary;
  const many = `${countText(sequences)} of `;
  const links: [id: string, text: string][] = [
    ['verdict', 'Verdict'],
    ['tests', 'Tests'],
    secondLevel.judged ? ['source', 'Proportions'] : ['source', 'p-values'],
    ['pictures', 'Pictures'],
  ];
  if (secondLevel.judged) links.push(['rows', `All ${grouped(secondLevel.rowsJudged)} rows`]);
  return markup`<header>
<p class="kicker">Statistical tests of random bits</p>
<h1><bdi>${input}</bdi></h1>
<p>${heading(bits, constants, sequences === 1 && complete ? '' : many)}${complete ? '' : markup`; <strong class="failed">ended early</strong>`}</p>
<p>${CONSTANTS_NOTE[constants]}</p>
<nav aria-label="Parts of this page"><ul>${links.map(([id, text]) => markup`<li><a href="#${id}">${text}</a></li>`)}</ul></nav>
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

function footer({ program }: PageContent): Markup {
  return markup`<footer>
<p>NIST <a href="https://doi.org/10.6028/NIST.SP.800-22r1a" rel="noreferrer">SP 800-22 Rev. 1a</a>, “A Statistical Test Suite for Random and Pseudorandom Number Generators for Cryptographic Applications”. Written by ${program}. It has no date, so the same input gives the same page.</p>
</footer>`;
}

/** What every page of a report has: its head, by whose policy it loads nothing, and its end. */
import { fieldRows } from '../identity.ts';
import type { TraceJson, TraceRow } from '../trace.ts';
import { type Content, Markup, markup, NOTHING } from './markup.ts';
import { traceList } from './report-section.ts';
import { STYLE } from './style.ts';

/** What identifies a report and says whose it is. */
type Identified = Pick<TraceJson, 'report' | 'created'>;

interface Page {
  readonly title: string;
  /** Undefined without a trace. */
  readonly facts: Identified | undefined;
  /** A text at the foot of every printed page. */
  readonly footnote?: string;
  readonly header: Markup;
  readonly sections: Content;
  readonly trace: readonly TraceRow[];
  /** The standard that the report goes by. */
  readonly standard: Markup;
  readonly program: string;
}

/** Forbids the page to load, run or send anything: its text, styles and pictures are all in it. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** Returns the page as text. */
export function formatFrame({ facts, title, footnote, header, sections, ...end }: Page): string {
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${facts ? `Report ${facts.report.id}: ` : ''}${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}${facts ? runningHead(facts, footnote) : NOTHING}</style>
</head>
<body>
${header}
<main>
${sections}
<div class="closing">
${end.trace.length === 0 ? NOTHING : traceSection(end.trace)}
<footer>
<p>NIST ${end.standard}. Written by ${end.program}.</p>
${facts ? reportEnd(facts) : NOTHING}</footer>
</div>
</main>
</body>
</html>
`.text;
}

/** Returns the section of everything that the report was made from and by. */
function traceSection(rows: readonly TraceRow[]): Markup {
  return markup`<section id="trace"><h2>Input and settings</h2>
${traceList(rows)}
</section>`;
}

/** Returns the end of the report, with lines to sign it if it names anyone. */
function reportEnd({ report }: Identified): Markup {
  const lines = ['Authorised by (name, function)', 'Date of issue and signature'];
  const named = fieldRows(report).length > 0;
  return markup`${
    report.laboratory === undefined
      ? ''
      : markup`<p>Not to be reproduced except in full without written approval of the laboratory.</p>
`
  }${named ? markup`<div class="signature">${lines.map((line) => markup`<p>${line}</p>`)}</div>` : ''}<p class="end">End of report ${report.id}</p>
`;
}

/** Longest name of a laboratory in the running head, in characters. */
const HEAD_LENGTH = 60;

function cut(text: string): string {
  const characters = [...text];
  return characters.length > HEAD_LENGTH ? `${characters.slice(0, HEAD_LENGTH).join('')}…` : text;
}

/**
 * Returns the running head and the page numbers of the printed report; `note` is at the foot of every page. Browsers
 * without margin boxes ignore them.
 */
export function runningHead({ report, created }: Identified, note = ''): Markup {
  const { id, laboratory = '' } = report;
  return new Markup(
    `@page{@top-left{content:${cssText(cut(laboratory))}}@top-right{content:${cssText(`Report ${id}, ${created}`)}}` +
      `@bottom-left{content:"The results relate only to the item tested.${note}"}` +
      `@bottom-right{content:"Page " counter(page) " of " counter(pages)}}`,
  );
}

/** Returns a CSS string. It escapes all that could end something, so it can end neither itself nor the element. */
function cssText(text: string): string {
  const escaped = text.replace(
    /[^A-Za-z0-9 :,.-]/gu,
    (character) => `\\${(character.codePointAt(0) as number).toString(16)} `,
  );
  return `"${escaped}"`;
}

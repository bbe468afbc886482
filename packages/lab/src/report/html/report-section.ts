/** What a printed report needs besides results: whose it is, of what, and where it ends (ISO/IEC 17025 §7.8.2). */

import { grouped, NOT_OF_STANDARD, type SuiteReport } from '../../../../sp800-22/src/index.ts';
import { fieldRows } from '../identity.ts';
import { countText } from '../text.ts';
import { type Finished, type TraceJson, testedText } from '../trace.ts';
import { type Content, Markup, markup } from './markup.ts';

/** What identifies a report and says whose it is. */
type Identified = Pick<TraceJson, 'report' | 'created'>;

/** Returns the section at the head of the page. */
export function reportSection(
  { report, input, created }: TraceJson,
  first: SuiteReport,
  { sequences, complete }: Finished,
): Markup {
  const isWhole = isReadWhole(input);
  const rows: [string, string | Markup][] = [
    ['Report', report.id],
    ...fieldRows(report),
    ['Item', markup`<bdi>${input.name}</bdi>, ${readText(input)}, ${input.format}`],
    [digestName(isWhole), markup`<span class="digest">${input.sha256}</span>`],
    ['Bits tested', testedText(input, sequences * first.bits)],
    [
      'Method',
      `${methodText(first)}, ${countText(sequences)} of ${grouped(first.bits)} bits${complete ? '' : '; ended early'}`,
    ],
    ['Tests begun', created],
  ];
  return reportTable(rows, isWhole);
}

/** Size of the item, null for a pipe, and bytes read, as a trace has them. */
type ReadSize = Pick<TraceJson['input'], 'size' | 'bytes'>;

/** Reports whether the digest is that of the whole item. A pipe has no more than what was read. */
export function isReadWhole({ size, bytes }: ReadSize): boolean {
  return size === null || size === bytes;
}

function methodText({ tests, constants }: SuiteReport): string {
  return tests.length === 0
    ? `Supplements, ${NOT_OF_STANDARD}`
    : `NIST SP 800-22 Rev. 1a (April 2010), ${constants} constants`;
}

/** Returns the section at the head of any report. `rows` has the digest; `isWhole`: of the whole item. */
export function reportTable(
  rows: readonly (readonly [name: string, value: Content])[],
  isWhole: boolean,
): Markup {
  const item = isWhole
    ? 'the item with this digest, as received'
    : 'the bytes with this digest, as received. It is not the digest of the whole item';
  return markup`<section id="report"><h2>Report</h2>
${traceList(rows)}
<p>The results relate only to ${item}. The program has not checked any text that it was given.</p>
</section>
`;
}

/** Returns how much of the item was read. */
export function readText({ size, bytes }: ReadSize): string {
  const all = size === null || size === bytes ? '' : ` of ${grouped(size)}`;
  return `${grouped(bytes)} bytes${all} read`;
}

/** Returns the name of the digest in such rows. */
export function digestName(isWhole: boolean): string {
  return isWhole ? 'SHA-256' : 'SHA-256 of the bytes read';
}

/** Returns the section of everything that the report was made from and by. */
export function traceSection(rows: readonly (readonly [name: string, value: string])[]): Markup {
  return markup`<section id="trace"><h2>Input and settings</h2>
${traceList(rows)}
</section>`;
}

function traceList(rows: readonly (readonly [name: string, value: Content])[]): Markup {
  return markup`<dl class="trace">${rows.map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** Returns the end of the report, with lines to sign it if it names anyone. */
export function reportEnd({ report }: Identified): Markup {
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

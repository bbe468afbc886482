/** What a printed report says at its head: whose it is, of what, and by which method (ISO/IEC 17025 §7.8.2). */

import { grouped } from '../../../../sp800-22/src/index.ts';
import { fieldRows } from '../identity.ts';
import type { TraceJson } from '../trace.ts';
import { type Content, type Markup, markup } from './markup.ts';

/** What a trace says of the input. */
type ReadInput = Pick<TraceJson['input'], 'name' | 'size' | 'bytes'>;

type Row = readonly [name: string, value: Content];

/**
 * Returns the section. `sha256` is the digest of the bytes read, and `format` their form, if it is named; `about` says
 * what was tested, and how.
 */
export function reportSection(
  { report, input, created }: Pick<TraceJson, 'report' | 'created'> & { readonly input: ReadInput },
  { sha256, format }: { readonly sha256: string; readonly format?: string },
  about: readonly Row[],
): Markup {
  const { name, size, bytes } = input;
  // A pipe has no more than what was read.
  const isWhole = size === null || size === bytes;
  const read = `${grouped(bytes)} bytes${isWhole ? '' : ` of ${grouped(size)}`} read`;
  const form = format === undefined ? '' : `, ${format}`;
  const item = isWhole
    ? 'the item with this digest, as received'
    : 'the bytes with this digest, as received. It is not the digest of the whole item';
  const rows: Row[] = [
    ['Report', report.id],
    ...fieldRows(report),
    ['Item', markup`<bdi>${name}</bdi>, ${read}${form}`],
    [
      isWhole ? 'SHA-256' : 'SHA-256 of the bytes read',
      markup`<span class="digest">${sha256}</span>`,
    ],
    ...about,
    ['Tests begun', created],
  ];
  return markup`<section id="report"><h2>Report</h2>
${traceList(rows)}
<p>The results relate only to ${item}. The program has not checked any text that it was given.</p>
</section>
`;
}

export function traceList(rows: readonly Row[]): Markup {
  return markup`<dl class="trace">${rows.map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

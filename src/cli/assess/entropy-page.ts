/** The page of `phm assess-entropy --html`: one file that loads nothing and runs no script. */
import { createHash } from 'node:crypto';
import { type Markup, markup, NOTHING, STYLE } from '#sp800-22/report';
import { PROJECT_VERSION } from '../../version.ts';
import { claimText, type EntropyClaim } from './entropy-claim.ts';
import type { EntropyPageParts } from './entropy-page-parts.ts';
import type { SampleFlags } from './entropy-samples.ts';
import { inputName } from './input.ts';

/** Forbids the page to load, run or send anything: its text and styles are all in it. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** Says which samples were assessed, by which program. */
export interface EntropyInput {
  readonly name: string;
  readonly samples: number;
  /** Of the assessed samples, one a byte: the file's digest if all of it was read that way. */
  readonly sha256: string;
  readonly subset: { readonly index: number; readonly samples: number } | null;
  readonly packed: boolean;
  readonly program: string;
}

export function describeInput(
  file: string,
  samples: Uint8Array,
  { subset, packed = false }: SampleFlags,
): EntropyInput {
  return {
    name: inputName(file),
    samples: samples.length,
    sha256: createHash('sha256').update(samples).digest('hex'),
    subset: subset ?? null,
    packed,
    program: `phm ${PROJECT_VERSION}`,
  };
}

export function inputText({ name, sha256 }: EntropyInput): string {
  return `\nInput ${name}, SHA-256 of the samples ${sha256}\n`;
}

/** Returns the page as text. It has no date, so the same input, options and seed give the same page. */
export function formatEntropyPage(
  input: EntropyInput,
  parts: EntropyPageParts,
  claim: EntropyClaim | null,
): string {
  const { title, passed, verdict, facts, tables, caveat } = parts;
  const state = passed === null ? '' : passed ? 'passed' : 'failed';
  const sign = passed === null ? 'i' : passed ? '✓' : '✗';
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>SP 800-90B report on ${input.name}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header><p class="kicker">SP 800-90B entropy assessment</p>
<h1>${input.name}</h1>
<p>${title}</p>
</header>
<main>
<section class="verdict ${state}"><h2><span class="sign" aria-hidden="true">${sign}</span>${verdict}</h2>
<dl>${facts.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${claim === null ? NOTHING : markup`<p>${claimText(claim).trim()}</p>`}
</section>
${tables.map(tableSection)}
${inputSection(input)}
</main>
<footer><p>${caveat.replaceAll('\n', ' ')}</p></footer>
</body>
</html>
`.text;
}

function tableSection({ title, rows }: EntropyPageParts['tables'][number]): Markup {
  const [heading, ...body] = rows;
  const row = ([name, ...cells]: string[]): Markup =>
    markup`<tr><th scope="row">${name}</th>${cells.map(dataCell)}</tr>`;
  return markup`<section><h2>${title}</h2>
<div class="scroll"><table>
<thead><tr>${heading.map((name) => markup`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${body.map(row)}</tbody>
</table></div>
</section>
`;
}

function dataCell(cell: string): Markup {
  return cell === 'FAILED'
    ? markup`<td class="failed"><b>${cell}</b></td>`
    : markup`<td>${cell}</td>`;
}

function inputSection({ name, samples, sha256, subset, packed, program }: EntropyInput): Markup {
  const part = subset === null ? 'all' : `part ${subset.index} of ${subset.samples} samples`;
  const rows = [
    ['name', name],
    ['samples', `${samples}`],
    ['SHA-256 of the samples, one a byte', sha256],
    ['read', packed ? `${part}, eight 1-bit samples a byte` : part],
    ['program', program],
  ];
  return tableSection({ title: 'Input', rows: [['field', 'value'], ...rows] });
}

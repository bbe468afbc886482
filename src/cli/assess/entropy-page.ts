/** The page of `phm assess-entropy --html`: one file that loads nothing and runs no script. */
import {
  fieldRows,
  grouped,
  type Markup,
  markup,
  NOTHING,
  reportEnd,
  reportTable,
  runningHead,
  STYLE,
  traceSection,
} from '#sp800-22/report';
import { claimText, type EntropyClaim } from './entropy-claim.ts';
import type { EntropyPageParts } from './entropy-page-parts.ts';
import { type EntropyTrace, entropyTraceRows } from './entropy-trace.ts';

/** Forbids the page to load, run or send anything: its text and styles are all in it. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** Returns the page as text. Only its date differs for the same input, options and seed. */
export function formatEntropyPage(
  trace: EntropyTrace,
  parts: EntropyPageParts,
  { claim, warnings }: { claim: EntropyClaim | null; warnings: readonly string[] },
): string {
  const { title, tables, caveat } = parts;
  const { report, input } = trace;
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Report ${report.id}: SP 800-90B report on ${input.name}</title>
<link rel="icon" href="data:,">
<style>${STYLE}${runningHead(trace)}</style>
</head>
<body>
<header><p class="kicker">Test report: entropy assessment</p>
<h1><bdi>${report.device ?? input.name}</bdi></h1>
<p>SP 800-90B: ${title}</p>
</header>
<main>
${reportTable(reportRows(trace, title))}
${verdictSection(parts, claim)}
<section class="limits"><h2>What this does not prove</h2><p>${caveat.trim().replaceAll('\n', ' ')}</p>
${warnings.map((warning) => markup`<p><b>Warning</b>${warning.trim().replace(/^warning/, '')}.</p>`)}</section>
${tables.map(tableSection)}
${traceSection(entropyTraceRows(trace))}
</main>
<footer>
<p>NIST <a href="https://doi.org/10.6028/NIST.SP.800-90B" rel="noreferrer">SP 800-90B</a>, “Recommendation for the Entropy Sources Used for Random Bit Generation”. Written by ${input.program}.</p>
${reportEnd(trace)}</footer>
</body>
</html>
`.text;
}

function reportRows(
  { report, input, created }: EntropyTrace,
  title: string,
): [name: string, value: string | Markup][] {
  const { size, bytes } = input;
  const read = `${grouped(bytes)} bytes${size === null || size === bytes ? '' : ` of ${grouped(size)}`} read`;
  return [
    ['Report', report.id],
    ...fieldRows(report),
    ['Item', markup`<bdi>${input.name}</bdi>, ${read}`],
    ['SHA-256', markup`<span class="digest">${input.bytes_sha256}</span>`],
    ['Method', `SP 800-90B, ${title}, ${grouped(input.samples)} samples`],
    ['Tested', created],
  ];
}

function verdictSection(
  { passed, verdict, facts }: EntropyPageParts,
  claim: EntropyClaim | null,
): Markup {
  const state = passed === null ? '' : passed ? 'passed' : 'failed';
  const sign = passed === null ? 'i' : passed ? '✓' : '✗';
  return markup`<section class="verdict ${state}"><h2><span class="sign" aria-hidden="true">${sign}</span>${verdict}</h2>
<dl>${facts.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${claim === null ? NOTHING : markup`<p>${claimText(claim).trim()}</p>`}
</section>`;
}

function tableSection({ title, rows }: EntropyPageParts['tables'][number]): Markup {
  const [heading, ...body] = rows;
  const row = ([name, ...cells]: string[]): Markup =>
    markup`<tr><th scope="row">${name}</th>${cells.map(dataCell)}</tr>`;
  return markup`<section><h2>${title}</h2>
<div class="scroll" tabindex="0"><table>
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

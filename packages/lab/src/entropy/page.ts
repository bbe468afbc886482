/** The page of `phm assess-entropy --html`: one file that loads nothing and runs no script. */

import { type Markup, markup, NOTHING } from '../report/html/markup.ts';
import { formatFrame } from '../report/html/page-frame.ts';
import { reportSection } from '../report/html/report-section.ts';
import { type EntropyClaim, initialFormula } from './claim.ts';
import { coverageRows } from './coverage.ts';
import { figure } from './figures.ts';
import type { EntropyPageParts, EntropyReport } from './model.ts';
import { DIGITS_NOTE, ESTIMATOR_NOTE } from './rules.ts';
import { type EntropyTrace, entropyTraceRows } from './trace.ts';

const STANDARD = 'NIST SP 800-90B (January 2018)';

/** Returns the page as text. Only its date differs for the same input, options and seed. `warnings` are sentences. */
export function formatEntropyPage(
  trace: EntropyTrace,
  { page: parts, claim }: Pick<EntropyReport, 'page' | 'claim'>,
  warnings: readonly string[],
): string {
  const { title, tables, rule, signs, caveat, bitstring } = parts;
  const { input } = trace;
  const about = [...coverageRows(input, bitstring), ['Method', `${STANDARD}, ${title}`]] as const;
  const sections = markup`${reportSection(trace, { sha256: input.bytes_sha256 }, about)}
${verdictSection(parts, claim)}
<section class="limits"><h2>What this does not prove</h2><p>${caveat.join(' ')}</p>
${warnings.map((warning) => markup`<p><b>Warning</b>: ${warning}</p>`)}</section>
${rule.length === 0 ? NOTHING : textSection('Decision rule', rule)}
${tables.map(tableSection)}
${textSection('Differences from the standard, and figures', [...signs, ESTIMATOR_NOTE, DIGITS_NOTE])}`;
  return formatFrame({
    title: `SP 800-90B report on ${input.name}`,
    facts: trace,
    header: markup`<header><p class="kicker">Report: entropy assessment</p>
<h1><bdi>${input.name}</bdi></h1>
<p>${STANDARD}: ${title}</p>
</header>`,
    sections,
    trace: entropyTraceRows(trace, parts),
    standard: markup`<a href="https://doi.org/10.6028/NIST.SP.800-90B" rel="noreferrer">SP 800-90B</a> (January 2018), “Recommendation for the Entropy Sources Used for Random Bit Generation”`,
    program: input.program,
  });
}

function verdictSection(parts: EntropyPageParts, claim: EntropyClaim | null): Markup {
  const { passed, facts, remarks } = parts;
  const state = passed === null ? '' : passed ? 'passed' : 'failed';
  const sign = passed === null ? 'i' : passed ? '✓' : '✗';
  return markup`<section class="verdict ${state}"><h2><span class="sign" aria-hidden="true">${sign}</span>${headline(parts, claim)}</h2>
<dl>${facts.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${[...initialRemarks(parts, claim), ...remarks].map(paragraph)}
</section>`;
}

/** H_I counts the designer's claim in, which no assessment knows. */
function headline({ verdict, initial }: EntropyPageParts, claim: EntropyClaim | null): string {
  const hInitial = initial === null ? null : (claim?.hInitial ?? null);
  const estimate =
    hInitial === null ? [] : [`Initial entropy estimate H_I = ${figure(hInitial)} bits per symbol`];
  return [...(verdict === null ? [] : [verdict]), ...estimate].join('. ');
}

function initialRemarks({ initial }: EntropyPageParts, claim: EntropyClaim | null): string[] {
  if (initial === null || claim === null) return [];
  const claimed = claim.hSubmitter === null ? [NO_CLAIM_REMARK] : [];
  return [
    `${initialFormula(initial, claim)} bits per symbol (§3.1.3).`,
    ...claimed,
    RESTARTS_REMARK,
  ];
}

const NO_CLAIM_REMARK =
  "H_submitter, the designer's claim, was not given. If it is lower than this figure, H_I is H_submitter (§3.1.3).";

const RESTARTS_REMARK =
  'Not a final assessment: the restart tests (SP 800-90B §3.1.4) are not part of this report.';

function textSection(title: string, sentences: readonly string[]): Markup {
  return markup`<section><h2>${title}</h2>${sentences.map(paragraph)}</section>`;
}

function paragraph(text: string): Markup {
  return markup`<p>${text}</p>`;
}

function tableSection({ title, rows }: EntropyPageParts['tables'][number]): Markup {
  const [heading, ...body] = rows;
  const row = ([name, ...cells]: string[]): Markup =>
    markup`<tr><th scope="row">${name}</th>${cells.map(dataCell)}</tr>`;
  return markup`<section class="short"><h2>${title}</h2>
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

/** Tables of results, and the signs of results. */
import { type Content, type Markup, markup, NOTHING } from './markup.ts';

/** The heading of a column; that of figures aligns them. */
type Column = string | { readonly figures: string };

/** Returns the table. The first cell of a row names it. */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Content[])[],
): Markup {
  const kinds = columns.map((one) => (typeof one === 'string' ? NOTHING : markup` class="number"`));
  const headings = columns.map((one) => (typeof one === 'string' ? one : one.figures));
  const row = ([name, ...cells]: readonly Content[]): Markup =>
    markup`<tr><th scope="row"${kinds[0]}>${name}</th>${cells.map((cell, i) => markup`<td${kinds[i + 1]}>${cell}</td>`)}</tr>
`;
  return markup`<div class="scroll" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr>${headings.map((heading, i) => markup`<th scope="col"${kinds[i]}>${heading}</th>`)}</tr></thead>
<tbody>
${rows.map(row)}</tbody></table></div>`;
}

const PASSED = markup`<span class="passed">✓ passed</span>`;

/** Returns the result of a test. */
export function signedResult(passed: boolean, failed = 'failed'): Markup {
  return passed ? PASSED : markup`<span class="failed">✗ ${failed}</span>`;
}

/** Returns a verdict on the source, which a failure decides. */
export function signedVerdict(passed: boolean): Markup {
  return passed ? PASSED : markup`<b class="failed">✗ FAILED</b>`;
}

/** The text of a report: paragraphs and columns. Every report in text is written by `textOf`. */

import { grouped } from '../../../sp800-22/src/index.ts';

/** Lines of a text, such as a table, without an empty one between them. */
export type Paragraph = readonly string[];

/** Returns the text. An empty line separates paragraphs; those without lines are left out. */
export function textOf(paragraphs: readonly Paragraph[]): string {
  return paragraphs
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

/** Returns the verdict in a word; null is that of what was not judged. */
export function resultText(passed: boolean | null): string {
  if (passed === null) return 'not judged';
  return passed ? 'passed' : 'FAILED';
}

/** Returns "1 sequence", "2,000 sequences", or a count of something else. */
export function countText(count: number, what = 'sequence'): string {
  return `${grouped(count)} ${what}${count === 1 ? '' : 's'}`;
}

/** Returns rows of equal length as lines, each column as wide as its widest cell. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
}

/** Numbers and columns of the text reports. */

import { grouped } from '../../../sp800-22/src/index.ts';
/** Returns "1 sequence", "2,000 sequences", or a count of something else. */
export function countText(count: number, what = 'sequence'): string {
  return `${grouped(count)} ${what}${count === 1 ? '' : 's'}`;
}

/** Returns rows of equal length as lines, each column as wide as its widest cell. */
export function alignColumns(rows: readonly string[][]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
}

/** Numbers and columns of the text reports. */

/** Writes 1000000 as 1,000,000. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

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

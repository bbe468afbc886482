/** Data of commands: JSON, one value a line, and tables. */
import { visible } from '../terminal/visible.ts';
import type { Output } from './output.ts';

/** Writes one JSON value and a line end. */
export function writeJson({ out }: Pick<Output, 'out'>, value: unknown): void {
  out(jsonLine(value));
}

/**
 * Returns one JSON value and a line end, for outputs and files that are written as bytes. `JSON.stringify` leaves U+009B,
 * with which a terminal begins a sequence, and direction marks as they are.
 */
export function jsonLine(value: unknown): string {
  return `${visible(JSON.stringify(value))}\n`;
}

/** Writes rows as aligned columns under a heading. */
export function writeTable(
  { out }: Pick<Output, 'out'>,
  heading: string[],
  rows: string[][],
): void {
  const lines = [heading, ...rows.map((row) => row.map(visible))];
  const widths = heading.map((_, column) =>
    lines.reduce((width, line) => Math.max(width, line[column]?.length ?? 0), 0),
  );
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    out(`${cells.join('  ').trimEnd()}\n`);
  }
}

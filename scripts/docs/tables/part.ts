/** Parts of files that come from tables of the code. */

/** A part of a file: all from the last of `after`, each of which follows the one before it, to `before`. */
export interface Part {
  /** Path of the file from the root of the project. */
  readonly file: string;
  readonly after: readonly string[];
  readonly before: string;
  readonly text: string;
}

/** Returns the part of a page between its two marks. */
export function partOfPage(file: string, name: string, text: string): Part {
  return { file, after: [`<!-- begin: ${name} -->\n`], before: `<!-- end: ${name} -->`, text };
}

/** Returns the content of the file with the part. */
export function withPart(content: string, { file, after, before, text }: Part): string {
  let start = 0;
  for (const mark of after) start = placeOf(mark, content, start, file) + mark.length;
  const end = placeOf(before, content, start, file);
  return content.slice(0, start) + text + content.slice(end);
}

function placeOf(mark: string, content: string, from: number, file: string): number {
  const place = content.indexOf(mark, from);
  if (place < 0) throw new Error(`${file} lacks ${JSON.stringify(mark)}`);
  return place;
}

/** Returns a Markdown table. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`.replaceAll('|  |', '| |');
  return `${line(head)}|${'---|'.repeat(head.length)}\n${rows.map(line).join('')}`;
}

/** Splits a stream into lines of bounded length. */
import { SetupError } from '../../errors.ts';
import { MAX_LINE_BYTES } from './format.ts';

const LINE_END = 10;

const CARRIAGE_RETURN = 13;

/**
 * Yields the lines without their ends, as many at a time as a chunk completes. Throws `SetupError`, after the lines before: a
 * header of a later version says why a line is longer than this program reads.
 */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array[]> {
  // Kept apart until the line is complete: a line of 16 MiB in small chunks would be copied again with each.
  let parts: Uint8Array[] = [];
  let length = 0;
  let count = 0;
  for await (const chunk of source) {
    const lines: Uint8Array[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      if (isLong(length + end - start)) {
        yield lines;
        throw tooLong(count + lines.length);
      }
      const line = joined([...parts, chunk.subarray(start, end)]);
      lines.push(plainLine(line, count + lines.length === 0));
      parts = [];
      length = 0;
      start = end + 1;
    }
    count += lines.length;
    length += chunk.length - start;
    yield lines;
    if (isLong(length)) throw tooLong(count);
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (length > 0) {
    throw new SetupError(`line ${count + 1} has no end: the file was cut off; export it again`);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only ? only : Buffer.concat(parts);
}

/** Returns a line as it was exported, without what a copy through another system added. Throws `SetupError`. */
function plainLine(line: Uint8Array, isFirst: boolean): Uint8Array {
  if (isFirst && (line[0] === 0xff || line[0] === 0xfe || line[0] === 0)) {
    throw new SetupError(
      'the file is UTF-16 or UTF-32, not UTF-8: copy it again without a conversion',
    );
  }
  const isMarked = isFirst && line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf;
  const end = line.at(-1) === CARRIAGE_RETURN ? -1 : line.length;
  return line.subarray(isMarked ? 3 : 0, end);
}

function isLong(length: number): boolean {
  return length >= MAX_LINE_BYTES;
}

function tooLong(linesBefore: number): SetupError {
  return new SetupError(`line ${linesBefore + 1} is longer than ${MAX_LINE_BYTES} bytes`);
}

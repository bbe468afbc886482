/** Splits a stream into lines of bounded length. */
import { SetupError } from '../../errors.ts';
import { MAX_LINE_BYTES } from './format.ts';

const LINE_END = 10;

/** Yields the lines without their ends, as many at a time as a chunk completes. Throws `SetupError`. */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array[]> {
  let rest: Uint8Array = new Uint8Array(0);
  let count = 0;
  for await (const chunk of source) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const lines: Uint8Array[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, start)) {
      requireShort(end - start, count + lines.length);
      lines.push(bytes.subarray(start, end));
      start = end + 1;
    }
    count += lines.length;
    rest = bytes.subarray(start);
    requireShort(rest.length, count);
    yield lines;
  }
  if (rest.length > 0) {
    throw new SetupError(`line ${count + 1} has no end: the file was cut off; export it again`);
  }
}

function requireShort(length: number, linesBefore: number): void {
  if (length < MAX_LINE_BYTES) return;
  throw new SetupError(`line ${linesBefore + 1} is longer than ${MAX_LINE_BYTES} bytes`);
}

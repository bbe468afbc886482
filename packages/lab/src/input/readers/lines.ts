/** Cuts a text that arrives in chunks into lines. */
import { type Decoder, formError, NO_BYTES } from './decoder.ts';

/** Longer than any line of a listing, and of any samples. */
const MAX_LINE_LENGTH = 2 ** 16;

const LINE_ENDS = /\r\n?|\n/;

/** A character beyond Latin-1 shows that the text begins with a byte order mark of UTF-8. */
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

class LineCutter {
  readonly #text = new TextDecoder('latin1');
  /** The start of a line that the next chunk continues. */
  #rest = '';
  #line = 0;

  /** Calls `take` with each complete line, and its number from 1. Throws `AssessError` on a line without an end. */
  push(chunk: Uint8Array, take: (line: string, number: number) => void): void {
    const text = this.#rest + this.#text.decode(chunk, { stream: true });
    // A carriage return at the end may be half of a line end.
    const isHalf = text.endsWith('\r');
    const lines = (isHalf ? text.slice(0, -1) : text).split(LINE_ENDS);
    this.#rest = `${lines.pop() ?? ''}${isHalf ? '\r' : ''}`;
    for (const line of lines) this.#take(line, take);
    if (this.#rest.length > MAX_LINE_LENGTH) throw this.#tooLong(this.#line + 1);
  }

  /** Takes the last line, if it has no line end. */
  end(take: (line: string, number: number) => void): void {
    const last = this.#rest.replace(/\r$/, '');
    this.#rest = '';
    if (last !== '') this.#take(last, take);
  }

  #take(line: string, take: (line: string, number: number) => void): void {
    const number = ++this.#line;
    if (line.length > MAX_LINE_LENGTH) throw this.#tooLong(number);
    take(number === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(3) : line, number);
  }

  #tooLong(line: number): Error {
    return formError(`line ${line} has more than ${MAX_LINE_LENGTH} characters`);
  }
}

/** A text whose lines hold bytes. */
export abstract class LineDecoder implements Decoder {
  readonly #lines = new LineCutter();
  readonly #parts: Uint8Array[] = [];
  readonly unusedBits = 0;

  /** Takes a line that is not empty. Throws `AssessError` on a fault. */
  protected abstract takeLine(line: string, number: number): void;

  /** Throws `AssessError` if something is missing. */
  protected abstract finish(): void;

  protected emit(bytes: Uint8Array): void {
    this.#parts.push(bytes);
  }

  push(chunk: Uint8Array): Uint8Array {
    this.#lines.push(chunk, (line, number) => this.#take(line, number));
    return this.#collect();
  }

  end(): Uint8Array {
    this.#lines.end((line, number) => this.#take(line, number));
    this.finish();
    return this.#collect();
  }

  #take(line: string, number: number): void {
    if (line.trim() !== '') this.takeLine(line, number);
  }

  #collect(): Uint8Array {
    if (this.#parts.length === 0) return NO_BYTES;
    const all = new Uint8Array(this.#parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
      part.fill(0);
    }
    this.#parts.length = 0;
    return all;
  }
}

/** Returns the bytes of pairs of hexadecimal digits; null if they are none. */
export function bytesOfHex(digits: string): Uint8Array | null {
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) return null;
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) =>
    Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16),
  );
}

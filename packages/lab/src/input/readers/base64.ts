/** Decodes base64 (RFC 4648 §4 or §5) that arrives in chunks, in lines of one length: words of a text are digits too. */
import { alphabetOf } from '../forms/digits.ts';
import { type Decoder, formError } from './decoder.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

const INVALID = 255;
const SKIPPED = 254;
const PADDING = 253;

const VALUES = new Uint8Array(256).fill(INVALID);
for (const [value, digit] of [...ALPHABET].entries()) VALUES[digit.charCodeAt(0)] = value;
/** The last two digits of either alphabet. */
const PLAIN = ['+', '/'].map((digit) => digit.charCodeAt(0));
const URL_SAFE = ['-', '_'].map((digit) => digit.charCodeAt(0));
for (const [i, digit] of URL_SAFE.entries()) VALUES[digit] = 62 + i;
for (const character of '\t\n\v\f\r ') VALUES[character.charCodeAt(0)] = SKIPPED;
VALUES['='.charCodeAt(0)] = PADDING;

const LINE_FEED = '\n'.charCodeAt(0);
const CARRIAGE_RETURN = '\r'.charCodeAt(0);

const DIGITS = /^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}$/;

/** True if a text, which may be cut off, is base64 in lines of one length, but for the last one. */
export function looksLikeBase64(text: string): boolean {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  const filled = lines.filter((line) => line !== '');
  const [first = ''] = filled;
  const body = filled.slice(0, -1);
  const isEven = body.every((line) => line.length === first.length && !line.includes('='));
  return isEven && (filled.at(-1)?.length ?? 0) <= first.length && DIGITS.test(filled.join(''));
}

export class Base64Decoder implements Decoder {
  /** Bits that are not yet a byte. */
  #rest = 0;
  #restBits = 0;
  #digits = 0;
  #padding = 0;
  readonly #lines = new LineLengths();
  /** The last two digits of the other alphabet: a text has one. So PEM is refused, whose titles have dashes. */
  #foreign: readonly number[] = [];
  #read = 0;
  readonly unusedBits = 0;

  push(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
    if (this.#read === 0) refuseOthers(chunk);
    const bytes = new Uint8Array(Math.ceil((chunk.length * 3) / 4) + 1);
    let length = 0;
    for (const character of chunk) {
      this.#read++;
      if (!this.#take(character)) continue;
      if (this.#restBits < 8) continue;
      this.#restBits -= 8;
      bytes[length++] = this.#rest >>> this.#restBits;
      this.#rest &= (1 << this.#restBits) - 1;
    }
    return bytes.subarray(0, length);
  }

  end(): Uint8Array<ArrayBuffer> {
    const isWhole = this.#padding === 0 || (this.#digits + this.#padding) % 4 === 0;
    if (this.#restBits >= 6 || !isWhole || this.#padding > 2) {
      throw formError('base64 ends within a group of four digits');
    }
    return new Uint8Array(0);
  }

  /** Returns true if the character is a digit. */
  #take(character: number): boolean {
    const value = VALUES[character];
    if (value === SKIPPED) {
      this.#lines.space(character);
      return false;
    }
    if (value !== INVALID) this.#lines.put();
    if (value === PADDING) {
      this.#padding++;
      return false;
    }
    if (value >= 62 && value < 64 && this.#foreign.length === 0) {
      this.#foreign = PLAIN.includes(character) ? URL_SAFE : PLAIN;
    }
    if (value === INVALID || this.#padding > 0 || this.#foreign.includes(character)) {
      throw formError(`byte ${this.#read} of the text is no base64 digit`);
    }
    this.#rest = (this.#rest << 6) | value;
    this.#restBits += 6;
    this.#digits++;
    return true;
  }
}

/** Characters at the start of a text that are compared with other alphabets. */
const COMPARED = 4096;

/** Throws `AssessError` if a text begins evenly with the characters of another alphabet. */
function refuseOthers(chunk: Uint8Array): void {
  const other = alphabetOf(String.fromCharCode(...chunk.subarray(0, COMPARED)));
  if (other) throw formError(`the text looks like ${other.is}, which is no base64`);
}

/** Checks that lines have no spaces within, and one length but for the last. */
class LineLengths {
  #line = 1;
  #length = 0;
  /** Of the lines before; null in the first one. */
  #expected: number | null = null;
  #isLast = false;
  #hasSpace = false;

  space(character: number): void {
    if (character !== LINE_FEED && character !== CARRIAGE_RETURN) {
      this.#hasSpace = this.#length > 0;
      return;
    }
    if (character === LINE_FEED) this.#line++;
    if (this.#length === 0) return;
    this.#expected ??= this.#length;
    this.#isLast = this.#length < this.#expected;
    this.#length = 0;
    this.#hasSpace = false;
  }

  put(): void {
    if (this.#hasSpace) {
      throw formError(`line ${this.#line} has a space between digits: words are no base64`);
    }
    this.#length++;
    if (this.#isLast || this.#length > (this.#expected ?? this.#length)) {
      const fault = this.#isLast
        ? `a line before line ${this.#line} is shorter than the first`
        : `line ${this.#line} is longer than the first`;
      throw formError(`${fault}: lines of base64 have one length, but for the last`);
    }
  }
}

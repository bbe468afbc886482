/** Decodes base64 (RFC 4648 §4 or §5) that arrives in chunks. Ignores whitespace. */
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

export class Base64Decoder implements Decoder {
  /** Bits that are not yet a byte. */
  #rest = 0;
  #restBits = 0;
  #ended = false;
  /** The last two digits of the other alphabet: a text has one. So PEM is refused, whose titles have dashes. */
  #foreign: readonly number[] = [];
  #read = 0;
  readonly unusedBits = 0;

  push(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
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
    if (this.#restBits >= 6) throw formError('base64 ends within a group of four digits');
    return new Uint8Array(0);
  }

  /** Returns true if the character is a digit. */
  #take(character: number): boolean {
    const value = VALUES[character];
    if (value === SKIPPED) return false;
    if (value === PADDING) {
      this.#ended = true;
      return false;
    }
    if (value >= 62 && value < 64 && this.#foreign.length === 0) {
      this.#foreign = PLAIN.includes(character) ? URL_SAFE : PLAIN;
    }
    if (value === INVALID || this.#ended || this.#foreign.includes(character)) {
      throw formError(`byte ${this.#read} of the text is no base64 digit`);
    }
    this.#rest = (this.#rest << 6) | value;
    this.#restBits += 6;
    return true;
  }
}

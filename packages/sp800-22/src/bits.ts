/**
 * Sequences of bits as the tests read them: one byte, 0 or 1, for each bit.
 *
 * The order is that of SP 800-22 and of the NIST program's binary files: the most significant bit
 * of the first byte comes first. Every bit counts; no length is rounded to whole words. (The NIST
 * program's reader drops bits when the length is not a multiple of 32.)
 */
import { assertInteger } from './result.ts';

/** Unpacked, this is an array of 4 GiB. */
const MAX_BITS = 2 ** 32 - 8;

const LINE_FEED = 0x0a;

/** What a character stands for, other than the value of a digit. */
const INVALID = -1;
const WHITESPACE = -2;

const CHARACTER_VALUES: Readonly<Record<TextFormat, Int8Array>> = {
  ascii: characterValues('01'),
  hex: characterValues('0123456789abcdef'),
};

function characterValues(digits: string): Int8Array {
  const values = new Int8Array(256).fill(INVALID);
  for (const character of '\t\n\v\f\r ') values[character.charCodeAt(0)] = WHITESPACE;
  for (const [value, digit] of [...digits].entries()) {
    values[digit.charCodeAt(0)] = value;
    values[digit.toUpperCase().charCodeAt(0)] = value;
  }
  return values;
}

/**
 * Unpacks bytes, most significant bit first, into a new array of 0 and 1. The first `offsetBits` bits
 * are skipped: a sequence need not begin with a byte.
 * The caller owns the array and MUST wipe it when the bytes are secret.
 * Throws `RangeError` when `lengthBits` asks for more bits than there are.
 */
export function unpackBits(
  bytes: Uint8Array,
  lengthBits: number = bytes.length * 8,
  offsetBits = 0,
): Uint8Array {
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError(`"bytes" expected Uint8Array, got ${typeof bytes}`);
  }
  assertInteger('offsetBits', offsetBits, 0, bytes.length * 8);
  assertInteger('lengthBits', lengthBits, 0, Math.min(bytes.length * 8 - offsetBits, MAX_BITS));
  const bits = new Uint8Array(lengthBits);
  // From the byte that the first bit is in: bit numbers of a long buffer do not fit 32 bits.
  const source = bytes.subarray(Math.floor(offsetBits / 8));
  for (let i = 0, j = offsetBits % 8; i < lengthBits; i++, j++) {
    bits[i] = (source[j >>> 3] >>> (7 - (j & 7))) & 1;
  }
  return bits;
}

/** `n` bits that begin `offsetBits` behind the first of `bytes`. */
export interface PackedSequence {
  readonly bytes: Uint8Array;
  readonly n: number;
  readonly offsetBits: number;
}

/** What `work` makes of the unpacked bits, which are wiped when it ends, also by throwing. */
export function withUnpacked<T>(
  { bytes, n, offsetBits }: PackedSequence,
  work: (bits: Uint8Array) => T,
): T {
  const bits = unpackBits(bytes, n, offsetBits);
  try {
    return work(bits);
  } finally {
    bits.fill(0);
  }
}

/** Text that spells a sequence: one bit a character, or four, the most significant first. */
export type TextFormat = 'ascii' | 'hex';

/** The first character of a text that is neither a digit of its format nor whitespace. */
export interface TextFault {
  readonly line: number;
  readonly column: number;
  readonly byte: number;
}

/**
 * Reads the bits of a text that comes in chunks; whitespace is ignored.
 *
 * The bits go, packed, where the caller wants them, and no character is looked at before a bit of it
 * is asked for. Lines and columns count from 1, columns in bytes.
 */
export class TextBitReader {
  readonly #values: Int8Array;
  readonly #bitsPerDigit: number;
  #chunk: Uint8Array = new Uint8Array(0);
  #position = 0;
  /** The last digit, of which `#digitBits` bits are still to be handed out. */
  #digit = 0;
  #digitBits = 0;
  #line = 1;
  #column = 1;

  constructor(format: TextFormat) {
    this.#values = CHARACTER_VALUES[format];
    this.#bitsPerDigit = format === 'hex' ? 4 : 1;
  }

  /** Takes the next chunk, which MUST NOT change until `read` stops short of its limit again. */
  feed(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#position = 0;
  }

  /**
   * Sets the bits of `into`, zeros until now, from bit `from` to before bit `to`, as far as the chunk
   * goes. Returns the bit it came to, or the fault that ends the reading.
   */
  read(into: Uint8Array, from: number, to: number): number | TextFault {
    let bit = from;
    for (;;) {
      while (this.#digitBits > 0 && bit < to) {
        this.#digitBits--;
        into[bit >>> 3] |= ((this.#digit >>> this.#digitBits) & 1) << (7 - (bit & 7));
        bit++;
      }
      if (bit === to || this.#position === this.#chunk.length) return bit;
      const byte = this.#chunk[this.#position++];
      const value = this.#values[byte];
      if (value === INVALID) return { line: this.#line, column: this.#column, byte };
      if (value !== WHITESPACE) {
        this.#digit = value;
        this.#digitBits = this.#bitsPerDigit;
      }
      this.#column++;
      if (byte === LINE_FEED) {
        this.#line++;
        this.#column = 1;
      }
    }
  }
}

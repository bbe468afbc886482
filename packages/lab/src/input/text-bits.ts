/** Reads the bits of texts of digits. */
import { assertInteger, assertName, assertUint8Array } from '../../../sp800-22/src/arguments.ts';
import { type NumberFault, PrefixedNumbers } from './prefixed-numbers.ts';

/** Format of a text: one bit per character, or four, most significant first. */
export type TextFormat = 'ascii' | 'hex';

/** The first character of a text that its format does not allow, or of a number that does not suit those before it. */
export interface TextFault {
  readonly line: number;
  readonly column: number;
  readonly byte: number;
  /** Why the number does not suit. */
  readonly number?: NumberFault;
}

const LINE_FEED = 0x0a;
const DIGIT_0 = 0x30;

/** The UTF-8 byte order mark. */
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/** Values of characters that are not digits. */
const INVALID = -1;
const SEPARATOR = -2;
/** The x of a prefix 0x. */
const PREFIX = -3;
/** Separates digits of one number. */
const JOINT = -4;

const WHITESPACE = '\t\n\v\f\r ';

const CHARACTER_VALUES: Readonly<Record<TextFormat, Int8Array>> = {
  ascii: characterValues('01', WHITESPACE),
  hex: characterValues('0123456789abcdef', `${WHITESPACE},:-`, 'xX', '_'),
};

function characterValues(digits: string, separators: string, prefix = '', joints = ''): Int8Array {
  const values = new Int8Array(256).fill(INVALID);
  for (const character of separators) values[character.charCodeAt(0)] = SEPARATOR;
  for (const character of prefix) values[character.charCodeAt(0)] = PREFIX;
  for (const character of joints) values[character.charCodeAt(0)] = JOINT;
  for (const [value, digit] of [...digits].entries()) {
    values[digit.charCodeAt(0)] = value;
    values[digit.toUpperCase().charCodeAt(0)] = value;
  }
  return values;
}

/**
 * Reads the bits of a text that arrives in chunks. Ignores whitespace and a byte order mark; in hex also commas, colons,
 * dashes, underscores, and 0x at the start of a number. Numbers with 0x must have as many digits as the first of them.
 *
 * It writes packed bits into the caller's buffer, and reads a character only when it needs a bit of it. (After a 0 that
 * starts a hexadecimal number it also needs the next character.) Lines and columns count from 1, columns in bytes.
 */
export class TextBitReader {
  readonly #values: Int8Array;
  readonly #bitsPerDigit: number;
  #chunk: Uint8Array = new Uint8Array(0);
  #position = 0;
  /** The last digit; its lowest `#digitBits` bits are not yet read. */
  #digit = 0;
  #digitBits = 0;
  #line = 1;
  #column = 1;
  /** Bytes of the byte order mark so far. */
  #markBytes = 0;
  /** True before the first digit of a number. */
  #atStart = true;
  /** True after a 0 that may begin a prefix 0x. */
  #zeroHeld = false;
  readonly #numbers = new PrefixedNumbers();
  /** Place of the first digit of the number. */
  #numberLine = 1;
  #numberColumn = 1;
  /** Fault of the last number of the text. */
  #lastFault: TextFault | null = null;

  constructor(format: TextFormat) {
    assertName('format', format, Object.keys(CHARACTER_VALUES));
    this.#values = CHARACTER_VALUES[format];
    this.#bitsPerDigit = format === 'hex' ? 4 : 1;
  }

  /** Bytes of the chunk that were read. */
  get position(): number {
    return this.#position;
  }

  /** Takes the next chunk. It MUST NOT change until `read` stops short of its limit again. */
  feed(chunk: Uint8Array): void {
    assertUint8Array('chunk', chunk);
    this.#chunk = chunk;
    this.#position = 0;
  }

  /** Ends the text: a 0 that might have begun a prefix is a digit. `read` then returns its bits, or a fault. */
  end(): void {
    if (this.#zeroHeld) this.#takeDigit(0);
    this.#lastFault ??= this.#endNumber();
  }

  /**
   * Writes bits `from` to `to` − 1 of `into`, as far as the chunk goes. They MUST be zero before.
   * Returns the next bit to write, or the fault that ended the reading.
   */
  read(into: Uint8Array, from: number, to: number): number | TextFault {
    assertUint8Array('into', into);
    assertInteger('to', to, 0, 8 * into.length);
    assertInteger('from', from, 0, to);
    let bit = from;
    for (;;) {
      while (this.#digitBits > 0 && bit < to) {
        this.#digitBits--;
        into[bit >>> 3] |= ((this.#digit >>> this.#digitBits) & 1) << (7 - (bit & 7));
        bit++;
      }
      if (bit === to) return bit;
      if (this.#position === this.#chunk.length) return this.#lastFault ?? bit;
      const byte = this.#chunk[this.#position];
      const value = this.#values[byte];
      if (this.#zeroHeld && value !== PREFIX) {
        this.#takeDigit(0);
        continue;
      }
      this.#position++;
      const fault = this.#accept(value, byte);
      if (fault) return fault;
      this.#column++;
      if (byte === LINE_FEED) {
        this.#line++;
        this.#column = 1;
      }
    }
  }

  /** Returns the fault if the character is not allowed here, or ends a number that is not. */
  #accept(value: number, byte: number): TextFault | null {
    if (value >= 0) {
      this.#acceptDigit(value);
      return null;
    }
    if (value === SEPARATOR || value === JOINT) {
      this.#atStart = true;
      return value === JOINT ? null : this.#endNumber();
    }
    if (value === PREFIX && this.#zeroHeld) {
      this.#zeroHeld = false;
      // After a joint, another number has not ended yet.
      const fault = this.#endNumber();
      this.#numbers.addPrefix();
      return fault;
    }
    return this.#isMark(byte) ? null : { line: this.#line, column: this.#column, byte };
  }

  #acceptDigit(value: number): void {
    if (this.#atStart) {
      this.#numberLine = this.#line;
      this.#numberColumn = this.#column;
    }
    this.#zeroHeld = this.#atStart && value === 0 && this.#bitsPerDigit === 4;
    if (!this.#zeroHeld) this.#takeDigit(value);
    this.#atStart = false;
  }

  #endNumber(): TextFault | null {
    const number = this.#numbers.end();
    if (!number) return null;
    return { line: this.#numberLine, column: this.#numberColumn, byte: DIGIT_0, number };
  }

  #takeDigit(value: number): void {
    this.#zeroHeld = false;
    this.#digit = value;
    this.#digitBits = this.#bitsPerDigit;
    this.#numbers.addDigit();
  }

  /** Returns whether the byte continues a byte order mark at the start of the text. */
  #isMark(byte: number): boolean {
    const starts = this.#line === 1 && this.#column === this.#markBytes + 1;
    return starts && byte === BYTE_ORDER_MARK[this.#markBytes] && ++this.#markBytes > 0;
  }
}

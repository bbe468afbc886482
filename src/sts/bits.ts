/**
 * Sequences of bits as the tests read them: one byte, 0 or 1, for each bit.
 *
 * The order is that of SP 800-22 and of the NIST program's binary files: the most significant bit
 * of the first byte comes first. Every bit counts; no length is rounded to whole words. (The NIST
 * program's reader drops bits when the length is not a multiple of 32.)
 */

const ZERO = 0x30;
const ONE = 0x31;
const LINE_FEED = 0x0a;
const WHITESPACE: ReadonlySet<number> = new Set([0x09, LINE_FEED, 0x0b, 0x0c, 0x0d, 0x20]);

/**
 * Unpacks bytes, most significant bit first, into a new array of 0 and 1.
 * The caller owns the array and MUST wipe it when the bytes are secret.
 * Throws `RangeError` when `lengthBits` asks for more bits than there are.
 */
export function unpackBits(bytes: Uint8Array, lengthBits: number = bytes.length * 8): Uint8Array {
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError(`"bytes" expected Uint8Array, got ${typeof bytes}`);
  }
  if (!Number.isInteger(lengthBits) || lengthBits < 0 || lengthBits > bytes.length * 8) {
    throw new RangeError(
      `"lengthBits" expected an integer from 0 to ${bytes.length * 8}, got ${lengthBits}`,
    );
  }
  const bits = new Uint8Array(lengthBits);
  for (let i = 0; i < lengthBits; i++) bits[i] = (bytes[i >>> 3] >>> (7 - (i & 7))) & 1;
  return bits;
}

/** The first character of an ASCII sequence that is neither 0, 1 nor whitespace. */
export interface AsciiFault {
  readonly line: number;
  readonly column: number;
  readonly byte: number;
}

/**
 * Reads a sequence of the characters 0 and 1 in chunks; whitespace is ignored.
 *
 * The reader fills `into` and stops there: characters after the last bit that fits are not looked
 * at. Lines and columns count from 1, columns in bytes.
 */
export class AsciiBitReader {
  readonly #into: Uint8Array;
  #count = 0;
  #line = 1;
  #column = 1;

  constructor(into: Uint8Array) {
    this.#into = into;
  }

  /** Bits read so far. */
  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count === this.#into.length;
  }

  /** Takes the next chunk. Returns the fault that ends the reading, or `null`. */
  write(chunk: Uint8Array): AsciiFault | null {
    for (const byte of chunk) {
      if (this.isFull) return null;
      if (byte === ZERO || byte === ONE) {
        this.#into[this.#count++] = byte - ZERO;
      } else if (!WHITESPACE.has(byte)) {
        return { line: this.#line, column: this.#column, byte };
      }
      this.#column++;
      if (byte === LINE_FEED) {
        this.#line++;
        this.#column = 1;
      }
    }
    return null;
  }
}

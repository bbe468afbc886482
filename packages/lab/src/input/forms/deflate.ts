/** The start of data compressed by deflate (RFC 1951), by the header of its first block. */

/** The order of code lengths in a header (§3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const END_OF_BLOCK = 256;

/**
 * Returns whether a block with codes of its own (§3.2.7), or a stored block (§3.2.4), begins at `at`. Random bytes do with a
 * probability below 2^-22: all three codes must be complete, or the length must be followed by its complement.
 */
export function beginsDeflate(bytes: Uint8Array, at: number): boolean {
  const bits = new Bits(bytes, 8 * at);
  try {
    bits.take(1);
    const type = bits.take(2);
    if (type === 2) return hasCodes(bits);
    if (type !== 0) return false;
    // Compressors fill the bits up to the next byte with zeros.
    if (bits.take(5) !== 0) return false;
    return (bits.take(16) ^ bits.take(16)) === 0xffff;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Bits of a byte string, least significant first. */
class Bits {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Throws `RangeError` after the last byte. */
  take(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) {
      const byte = this.#bytes[this.#at >>> 3];
      if (byte === undefined) throw new RangeError('expected more bytes');
      value |= ((byte >>> (this.#at++ & 7)) & 1) << i;
    }
    return value;
  }
}

function hasCodes(bits: Bits): boolean {
  const literals = bits.take(5) + 257;
  const distances = bits.take(5) + 1;
  const count = bits.take(4) + 4;
  if (literals > 286 || distances > 30) return false;
  const header = new Array<number>(ORDER.length).fill(0);
  for (const symbol of ORDER.slice(0, count)) header[symbol] = bits.take(3);
  if (!isComplete(header)) return false;
  const lengths = readLengths(bits, header, literals + distances);
  if (!lengths || lengths[END_OF_BLOCK] === 0) return false;
  const places = lengths.slice(literals);
  // One distance, or none, has no complete code (§3.2.7).
  const isSingle = places.filter((length) => length > 0).length < 2;
  return isComplete(lengths.slice(0, literals)) && (isSingle || isComplete(places));
}

/** Kraft's sum is 1: no string of bits is without a meaning. */
function isComplete(lengths: readonly number[]): boolean {
  return lengths.reduce((sum, length) => sum + (length && 2 ** -length), 0) === 1;
}

/** Returns as many code lengths, or null if a repetition has nothing before it or goes beyond them. */
function readLengths(bits: Bits, code: readonly number[], count: number): number[] | null {
  const lengths: number[] = [];
  while (lengths.length < count) {
    const symbol = readSymbol(bits, code);
    if (symbol < 16) lengths.push(symbol);
    else {
      const last = symbol === 16 ? lengths.at(-1) : 0;
      if (last === undefined) return null;
      const times =
        symbol === 16 ? 3 + bits.take(2) : symbol === 17 ? 3 + bits.take(3) : 11 + bits.take(7);
      for (let i = 0; i < times; i++) lengths.push(last);
    }
  }
  return lengths.length === count ? lengths : null;
}

/** Reads a symbol of a complete code, whose words are given in order of length and symbol (§3.2.2). */
function readSymbol(bits: Bits, code: readonly number[]): number {
  let word = 0;
  let first = 0;
  for (let length = 1; ; length++) {
    word = (word << 1) | bits.take(1);
    const symbols = [...code.keys()].filter((symbol) => code[symbol] === length);
    const symbol = symbols[word - first];
    if (symbol !== undefined) return symbol;
    first = (first + symbols.length) << 1;
  }
}

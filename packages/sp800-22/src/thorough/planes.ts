/**
 * Bit planes: the bits at one place of each word of a stream, as a stream of their own. A generator's words have 8, 16, 32
 * or 64 bits; place 0 is the highest bit of the first byte of a word.
 */

/** The widths of words whose planes are tested. */
export const WORD_BITS: readonly number[] = [8, 16, 32, 64];

interface Plane {
  readonly width: number;
  readonly place: number;
}

/** Returns the number of bits in a plane. */
export function planeBits(bytes: Uint8Array, { width }: Plane): number {
  return Math.floor((8 * bytes.length) / width);
}

/** Returns the first `bits` bits of a plane, one per element. */
export function planeOf(bytes: Uint8Array, { width, place }: Plane, bits: number): Uint8Array {
  const step = width / 8;
  const shift = 7 - (place & 7);
  const plane = new Uint8Array(bits);
  for (let i = 0, at = place >>> 3; i < bits; i++, at += step) plane[i] = (bytes[at] >>> shift) & 1;
  return plane;
}

/** Packs bits into words, the lowest bit first, with a word of zeros behind them. */
export function packed(bits: Uint8Array): Int32Array {
  const words = new Int32Array((bits.length >>> 5) + 2);
  for (let i = 0; i < bits.length; i++) words[i >>> 5] |= bits[i] << (i & 31);
  return words;
}

/** Returns 32 copies of packed bits: copy k begins with bit k. So every stretch begins at a word of one of them. */
export function shiftedCopies(words: Int32Array): Int32Array[] {
  return Array.from({ length: 32 }, (_, k) =>
    k === 0
      ? words
      : Int32Array.from(words, (word, i) => (word >>> k) | ((words[i + 1] ?? 0) << (32 - k))),
  );
}

/** Zeroes copies of the bits, which may be key material. */
export function wipe(...copies: readonly { fill(value: number): unknown }[]): void {
  for (const copy of copies) copy.fill(0);
}

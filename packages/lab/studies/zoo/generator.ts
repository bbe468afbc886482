/** The form of the generators of the zoo. */

export interface ZooGenerator {
  readonly name: string;
  /** Where it is defined, or who uses it. */
  readonly source: string;
  /** Bits of each output: 1, or whole bytes, the lowest byte first. */
  readonly width: 1 | 8 | 16 | 24 | 32;
  /** True for a cipher or a hash under a fixed key: a control that every test should pass. */
  readonly sound?: true;
  /** Returns a function that returns the next output, from a fixed seed. */
  readonly start: () => () => number;
}

/** Returns the low and the high half of each output of 64 bits in turn. */
export function halves(next: () => bigint): () => number {
  let high: number | undefined;
  return () => {
    if (high !== undefined) {
      const half = high;
      high = undefined;
      return half;
    }
    const value = next();
    high = Number(value >> 32n);
    return Number(value & 0xffff_ffffn);
  };
}

/** Returns numbers of 32 bits for initial states: the mixer of SplitMix, on a counter. */
export function seeds(start = 1): () => number {
  let x = start;
  return () => {
    x = (x + 0x9e3779b9) | 0;
    let z = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
}

/** Returns the first `length` bytes of a generator. Bits fill bytes from the highest one on. */
export function bytesOf({ width, start }: ZooGenerator, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const next = start();
  if (width === 1) {
    for (let i = 0; i < 8 * length; i++) bytes[i >>> 3] |= (next() & 1) << (7 - (i & 7));
    return bytes;
  }
  for (let i = 0; i < length; ) {
    const value = next();
    for (let shift = 0; shift < width && i < length; shift += 8) bytes[i++] = value >>> shift;
  }
  return bytes;
}

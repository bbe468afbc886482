/** Bits as the tests read them: one byte, 0 or 1, per bit, the most significant bit of the first byte first. */

/** Part of a byte string: the `bits` bits that begin `offsetBits` after the first bit of `bytes`. */
export interface BitRange {
  /** Default: all bits after `offsetBits`. */
  readonly bits?: number;
  readonly offsetBits?: number;
}

/**
 * Returns the bits, one per byte, in new memory, which the caller wipes if they are secret. Throws `TypeError` unless
 * `bytes` is a `Uint8Array`, and `RangeError` if it holds too few bits.
 */
export function unpack(bytes: Uint8Array, { bits, offsetBits = 0 }: BitRange = {}): Uint8Array {
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError(`"bytes" expected Uint8Array, got ${typeof bytes}`);
  }
  const available = bytes.length * 8;
  assertWhole('offsetBits', offsetBits, 0, available);
  const length = bits ?? available - offsetBits;
  assertWhole('bits', length, 0, available - offsetBits);
  const unpacked = new Uint8Array(length);
  const source = bytes.subarray(Math.floor(offsetBits / 8));
  for (let i = 0, j = offsetBits % 8; i < length; i++, j++) {
    unpacked[i] = (source[j >>> 3] >>> (7 - (j & 7))) & 1;
  }
  return unpacked;
}

/** Throws `RangeError` unless `value` is a whole number from `least` to `most`. */
export function assertWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new RangeError(
    `"${name}" expected a whole number from ${least} to ${most}, got ${String(value)}`,
  );
}

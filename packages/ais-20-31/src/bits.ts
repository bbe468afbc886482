/** Bits as the tests read them: one byte, 0 or 1, per bit, the most significant bit of the first byte first. */
import {
  assertInteger,
  assertUint8Array,
  integer,
  type Members,
} from '../../sp800-22/src/arguments.ts';

/** Part of a byte string: the `bits` bits that begin `offsetBits` after the first bit of `bytes`. */
export interface BitRange {
  /** Default: all bits after `offsetBits`. */
  readonly bits?: number;
  readonly offsetBits?: number;
}

/** What a range may be before the bytes are known. */
export const BIT_RANGE: Members<BitRange> = {
  bits: integer(0, Number.MAX_SAFE_INTEGER),
  offsetBits: integer(0, Number.MAX_SAFE_INTEGER),
};

/**
 * Returns the bits, one per byte, in new memory, which the caller wipes if they are secret. Throws `TypeError` unless
 * `bytes` is a `Uint8Array`, and `RangeError` if it holds too few bits: at least `needed`.
 */
export function unpack(
  bytes: Uint8Array,
  { bits, offsetBits = 0 }: BitRange,
  needed: number,
): Uint8Array {
  assertUint8Array('bytes', bytes);
  const available = bytes.length * 8;
  assertInteger('offsetBits', offsetBits, 0, available);
  const length = bits ?? available - offsetBits;
  assertInteger('bits', length, 0, available - offsetBits);
  if (length < needed) {
    const text = needed.toLocaleString('en-US');
    throw new RangeError(
      `"${bits === undefined ? 'bytes' : 'bits'}" expected at least ${text} bits, got ${length.toLocaleString('en-US')}`,
    );
  }
  const unpacked = new Uint8Array(length);
  const source = bytes.subarray(Math.floor(offsetBits / 8));
  for (let i = 0, j = offsetBits % 8; i < length; i++, j++) {
    unpacked[i] = (source[j >>> 3] >>> (7 - (j & 7))) & 1;
  }
  return unpacked;
}

/**
 * Sequences of bits as the tests read them: one byte, 0 or 1, per bit.
 *
 * As in SP 800-22 and the NIST program's binary files, the most significant bit of the first byte comes
 * first. Every bit counts. (The NIST program's reader drops bits if the length is not a multiple of 32.)
 */
import { assertInteger, assertUint8Array } from './arguments.ts';

/** Longest unpacked sequence: an array of 4 GiB. */
const MAX_BITS = 2 ** 32 - 8;

/**
 * Unpacks bytes, most significant bit first, into a new array of 0 and 1. Skips the first `offsetBits` bits,
 * because a sequence may begin within a byte.
 * The caller owns the array and MUST wipe it if the bytes are secret.
 * Throws `RangeError` if `lengthBits` exceeds the number of bits.
 */
export function unpackBits(
  bytes: Uint8Array,
  lengthBits: number = 8 * (bytes?.length ?? 0),
  offsetBits = 0,
): Uint8Array {
  assertUint8Array('bytes', bytes);
  assertInteger('offsetBits', offsetBits, 0, bytes.length * 8);
  assertInteger('lengthBits', lengthBits, 0, Math.min(bytes.length * 8 - offsetBits, MAX_BITS));
  const bits = new Uint8Array(lengthBits);
  // Starts at the byte of the first bit, because bit numbers of a long buffer do not fit 32 bits.
  const source = bytes.subarray(Math.floor(offsetBits / 8));
  for (let i = 0, j = offsetBits % 8; i < lengthBits; i++, j++) {
    bits[i] = (source[j >>> 3] >>> (7 - (j & 7))) & 1;
  }
  return bits;
}

/** A sequence of `n` bits that begins `offsetBits` after the first bit of `bytes`. */
export interface PackedSequence {
  readonly bytes: Uint8Array;
  readonly n: number;
  readonly offsetBits: number;
}

/** Calls `work` with the unpacked bits and returns its result. Wipes the bits afterwards, also if `work` throws. */
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

/**
 * Byte buffers that may hold secrets.
 *
 * `Buffer.from`, `Buffer.concat` and `Buffer.allocUnsafe` return slices of a shared 8 KiB slab, whose contents cannot
 * be wiped or transferred separately. The functions here allocate separate memory.
 */

/**
 * Returns zeros in separate memory that never moves. `Buffer.alloc` of up to 64 bytes lies in V8's heap: the garbage
 * collector moves it and leaves a copy behind, which `wipe` cannot reach.
 */
export function newBytes(length: number): Buffer<ArrayBuffer> {
  return Buffer.from(new ArrayBuffer(length));
}

/** Joins parts into one buffer with separate memory. */
export function concatBytes(...parts: readonly Uint8Array[]): Buffer {
  const joined = newBytes(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Decodes hexadecimal digits of either case into separate memory. Throws `TypeError` on other input. */
export function hexToBytes(hex: string): Buffer {
  if (hex.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(hex)) {
    throw new TypeError(
      `"hex" expected an even number of hexadecimal digits, got ${hex.length} characters`,
    );
  }
  const bytes = newBytes(hex.length / 2);
  bytes.write(hex, 'hex');
  return bytes;
}

/** Overwrites buffers with zeros. */
export function wipe(
  ...buffers: readonly (Uint8Array | Int32Array | Uint32Array | Float64Array)[]
): void {
  for (const buffer of buffers) buffer.fill(0);
}

/** Throws `TypeError` unless `bytes` is a `Uint8Array` of exactly `length` bytes. */
export function assertLength(name: string, bytes: Uint8Array, length: number): void {
  if (!(bytes instanceof Uint8Array) || bytes.length !== length) {
    const got = bytes instanceof Uint8Array ? `length=${bytes.length}` : typeof bytes;
    throw new TypeError(`"${name}" expected Uint8Array of length ${length}, got ${got}`);
  }
}

/** Returns the number of one bits in `bytes`. */
export function countOnes(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wholeWordsBytes = bytes.length - (bytes.length % 4);
  let ones = 0;
  for (let i = 0; i < wholeWordsBytes; i += 4) ones += popcount32(view.getUint32(i));
  for (let i = wholeWordsBytes; i < bytes.length; i++) ones += popcount32(bytes[i]);
  return ones;
}

/** Returns the number of one bits in the low 32 bits of `word`. It uses no table, whose index would be secret. */
export function popcount32(word: number): number {
  let pairs = word - ((word >>> 1) & 0x5555_5555);
  pairs = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((pairs + (pairs >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

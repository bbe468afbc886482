/** The time in a key id, a UUIDv7: its first 48 bits, in milliseconds. */

/** The millisecond in which a key id was made. */
export function keyIdMs(keyId: Uint8Array): number {
  return Buffer.from(keyId.buffer, keyId.byteOffset, keyId.length).readUIntBE(0, 6);
}

/** What the ids of keys made before a time are less than. */
export function keyIdBound(atMs: number): Buffer {
  const bound = Buffer.alloc(6);
  bound.writeUIntBE(Math.max(0, atMs), 0, 6);
  return bound;
}

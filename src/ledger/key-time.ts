/** The time in a key ID. It is a UUIDv7: the first 48 bits are milliseconds. */

/** Returns the time at which a key ID was generated, in milliseconds. */
export function keyIdMs(keyId: Uint8Array): number {
  return Buffer.from(keyId.buffer, keyId.byteOffset, keyId.length).readUIntBE(0, 6);
}

/** Returns the exclusive upper bound of the IDs of keys generated before a time. */
export function keyIdBound(atMs: number): Buffer {
  const bound = Buffer.alloc(6);
  bound.writeUIntBE(Math.max(0, atMs), 0, 6);
  return bound;
}

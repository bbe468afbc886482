/** What both stores make of their rows of validated keys. */
import type { ValidatedKey } from './store.ts';

/** The millisecond in which a key id was made: a UUIDv7 begins with it. */
export function keyIdMs(keyId: Uint8Array): number {
  return Buffer.from(keyId.buffer, keyId.byteOffset, keyId.length).readUIntBE(0, 6);
}

/** The rows of `validated_keys`, newest first, as keys, oldest first. */
export function toValidatedKeys(rows: readonly Record<string, unknown>[]): ValidatedKey[] {
  return rows.toReversed().map(({ keyId, definition, pValues }) => ({
    atMs: keyIdMs(keyId as Uint8Array),
    definition: Number(definition),
    pValues: pValues as Uint8Array,
  }));
}

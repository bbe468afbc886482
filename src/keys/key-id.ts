/** Key IDs: UUIDv7 (RFC 9562 §5.7), written as `phm_` and an unsigned decimal number. */
import { randomFillSync } from 'node:crypto';
import { hexToBytes } from '../bytes.ts';

const MAX_KEY_ID = 2n ** 128n - 1n;

const KEY_ID_BYTES = 16;

/** Random bytes for the next key IDs of this thread. They are no secrets, and none is used twice. */
const reserve: Buffer = Buffer.alloc(128 * KEY_ID_BYTES);
let taken = reserve.length;

/**
 * Returns a new key ID of 16 bytes. Key IDs sort by the millisecond of their creation. `randomUUIDv7` returns text, and
 * its way to bytes costs twice as much again (bench/key-path.ts).
 */
export function newKeyId(atMs: number = Date.now()): Uint8Array {
  if (taken === reserve.length) {
    randomFillSync(reserve);
    taken = 0;
  }
  const keyId = Buffer.alloc(KEY_ID_BYTES);
  reserve.copy(keyId, 0, taken, taken + KEY_ID_BYTES);
  taken += KEY_ID_BYTES;
  // unix_ts_ms, 48 bits.
  keyId.writeUIntBE(atMs, 0, 6);
  // ver = 7, then 12 random bits; var = 0b10, then 62 random bits.
  keyId[6] = 0x70 | (keyId[6] & 0x0f);
  keyId[8] = 0x80 | (keyId[8] & 0x3f);
  return keyId;
}

/** Returns the key ID as text. */
export function formatKeyId(keyId: Uint8Array): string {
  const words = new DataView(keyId.buffer, keyId.byteOffset, 16);
  return `phm_${(words.getBigUint64(0) << 64n) | words.getBigUint64(8)}`;
}

/** Returns the 16 bytes of a key ID in text form, or undefined if the text is not one. */
export function parseKeyId(text: string): Uint8Array | undefined {
  const number = BigInt(/^phm_((?!0)[0-9]{1,39})$/.exec(text)?.[1] ?? 0);
  if (number === 0n || number > MAX_KEY_ID) return undefined;
  return hexToBytes(number.toString(16).padStart(32, '0'));
}

/** Key IDs: UUIDv7 (RFC 9562 §5.7), written as `phm_` and an unsigned decimal number. */
import { randomUUIDv7 } from 'node:crypto';
import { hexToBytes } from '../bytes.ts';

const MAX_KEY_ID = 2n ** 128n - 1n;

/** Returns a new key ID of 16 bytes. Key IDs sort by the millisecond of their creation. */
export function newKeyId(): Uint8Array {
  return hexToBytes(randomUUIDv7().replaceAll('-', ''));
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

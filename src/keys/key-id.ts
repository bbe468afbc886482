/** Key identifiers: a UUIDv7 (RFC 9562 §5.7), shown as `phm_` and an unsigned decimal number. */
import { randomUUIDv7 } from 'node:crypto';
import { hexToBytes } from '../bytes.ts';

const MAX_KEY_ID = 2n ** 128n - 1n;

/** A new identifier, 16 bytes. Identifiers sort by the millisecond they were made in. */
export function newKeyId(): Uint8Array {
  return hexToBytes(randomUUIDv7().replaceAll('-', ''));
}

/** The identifier as clients see it. */
export function formatKeyId(keyId: Uint8Array): string {
  const hex = Buffer.from(keyId.buffer, keyId.byteOffset, keyId.length).toString('hex');
  return `phm_${BigInt(`0x${hex}`)}`;
}

/** The 16 bytes of an identifier as clients see it; undefined when it is none. */
export function parseKeyId(text: string): Uint8Array | undefined {
  const number = BigInt(/^phm_((?!0)[0-9]{1,39})$/.exec(text)?.[1] ?? 0);
  if (number === 0n || number > MAX_KEY_ID) return undefined;
  return hexToBytes(number.toString(16).padStart(32, '0'));
}

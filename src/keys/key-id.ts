/** Key identifiers: a UUIDv7 (RFC 9562 §5.7), shown as `phm_` and an unsigned decimal number. */
import { randomUUIDv7 } from 'node:crypto';
import { hexToBytes } from '../bytes.ts';

/** A new identifier, 16 bytes. Identifiers sort by the millisecond they were made in. */
export function newKeyId(): Uint8Array {
  return hexToBytes(randomUUIDv7().replaceAll('-', ''));
}

/** The identifier as clients see it. */
export function formatKeyId(keyId: Uint8Array): string {
  const hex = Buffer.from(keyId.buffer, keyId.byteOffset, keyId.length).toString('hex');
  return `phm_${BigInt(`0x${hex}`)}`;
}

/** IDs of deliveries: lower-case UUIDs of any version (RFC 9562). */
import { hexToBytes } from '../bytes.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns the 16 bytes of an ID in memory of their own, because threads send them; undefined if the text is no lower-case UUID. */
export function parseDeliveryId(text: string): Uint8Array | undefined {
  return UUID.test(text) ? hexToBytes(text.replaceAll('-', '')) : undefined;
}

export function formatDeliveryId({ buffer, byteOffset, length }: Uint8Array): string {
  const hex = Buffer.from(buffer, byteOffset, length).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Sound sources, each known by a number. */
import { createCipheriv } from 'node:crypto';

/** Returns a function that returns the next bytes of an AES-256-CTR stream under a key of its own. */
export function soundSource(number: number): (bytes: number) => Uint8Array {
  const key = Buffer.alloc(32);
  key.writeUInt32BE(number);
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  return (bytes) => cipher.update(Buffer.alloc(bytes));
}

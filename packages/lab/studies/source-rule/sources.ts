/** Sound sources of sequences, each known by a name. */
import { createCipheriv, createHash } from 'node:crypto';

/** Returns a function that returns the next bytes of an AES-256-CTR stream under a key of its own. */
export function namedSource(name: string): (bytes: number) => Buffer {
  const key = createHash('sha256').update(`phm source rule ${name}`).digest();
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  return (bytes) => cipher.update(Buffer.alloc(bytes));
}

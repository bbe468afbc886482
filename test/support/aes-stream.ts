/** Sound bits for tests: the same in every run, and no test tells them from random ones. */
import { createCipheriv } from 'node:crypto';

/** `lengthBytes` bytes of AES-256-CTR under a key of 32 bytes, the counter from zero. */
export function aesCtr(key: Uint8Array, lengthBytes: number): Buffer {
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(lengthBytes));
}

/** Bits for tests: the same in every run, and indistinguishable from random bits. */
import { createCipheriv } from 'node:crypto';

/** Returns `lengthBytes` bytes of AES-256-CTR under a 32-byte key, with the counter starting at zero. */
export function aesCtr(key: Uint8Array, lengthBytes: number): Buffer {
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(lengthBytes));
}

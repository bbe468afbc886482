/**
 * The two AES-256 modes of the generator, both from `node:crypto`.
 *
 * The outputs are secret: the caller MUST wipe them. OpenSSL owns the cipher contexts and clears
 * the key schedule when `final` frees the context.
 */
import { createCipheriv } from 'node:crypto';

export const BLOCK_BYTES = 16;
export const KEY_BYTES = 32;

const ZERO_IV: Buffer = Buffer.alloc(BLOCK_BYTES);

/** Returns `data` XOR E(counter) ‖ E(counter + 1) ‖ … The counter wraps modulo 2^128. */
export function ctrEncrypt(key: Uint8Array, counter: Uint8Array, data: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-ctr', key, counter);
  const output = cipher.update(data);
  cipher.final();
  return output;
}

/** Encrypts by CBC without padding. `data` MUST be whole blocks. */
export function cbcEncrypt(key: Uint8Array, data: Uint8Array, iv: Uint8Array = ZERO_IV): Buffer {
  const cipher = createCipheriv('aes-256-cbc', key, iv).setAutoPadding(false);
  const output = cipher.update(data);
  cipher.final();
  return output;
}

/** Sets `target` to (`value` + 1) mod 2^128, both big-endian blocks. */
export function incrementInto(target: Uint8Array, value: Uint8Array): void {
  let carry = 1;
  for (let i = BLOCK_BYTES - 1; i >= 0; i--) {
    const sum = value[i] + carry;
    target[i] = sum;
    carry = sum >>> 8;
  }
}

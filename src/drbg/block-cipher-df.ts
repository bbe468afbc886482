/**
 * Block_Cipher_df, the derivation function of NIST SP 800-90A Rev. 1 §10.3.2, for AES-256 and
 * seedlen = 384 bits. It conditions the concatenated output of all entropy sources into one seed.
 */
import { wipe } from '../bytes.ts';
import { BLOCK_BYTES, cbcEncrypt, KEY_BYTES } from './_aes.ts';

/** SP 800-90A Rev. 1 Table 3: seedlen = blocklen + keylen = 384 bits for AES-256. */
export const SEED_LENGTH_BYTES = 48;

// §10.3.2 step 8: K = leftmost (0x00010203…1D1E1F, keylen).
const K: Buffer = Buffer.alloc(KEY_BYTES);
for (let i = 0; i < KEY_BYTES; i++) K[i] = i;

const ZEROS: Buffer = Buffer.alloc(SEED_LENGTH_BYTES);

/** Derives 48 bytes from the concatenation of `parts`. The caller MUST wipe the result. */
export function blockCipherDf(...parts: readonly Uint8Array[]): Buffer {
  const ivAndS = formatInput(parts);

  // Step 9: temp = BCC(K, IV_0 ‖ S) ‖ BCC(K, IV_1 ‖ S) ‖ BCC(K, IV_2 ‖ S), 48 bytes.
  const temp = Buffer.alloc(SEED_LENGTH_BYTES);
  for (let i = 0; i < SEED_LENGTH_BYTES / BLOCK_BYTES; i++) {
    // Step 9.1: IV is the 32-bit i padded with zeros to one block.
    ivAndS[3] = i;
    // §10.3.3: BCC is the last block of a CBC pass with a zero IV.
    const chain = cbcEncrypt(K, ivAndS);
    temp.set(chain.subarray(chain.length - BLOCK_BYTES), i * BLOCK_BYTES);
    wipe(chain);
  }

  // Steps 10 to 14: K = the first 32 bytes, X = the next 16; out = E(X) ‖ E(E(X)) ‖ E(E(E(X))).
  // CBC over zero blocks feeds each output back as the next input, so one pass computes all three.
  const key = temp.subarray(0, KEY_BYTES);
  const X = temp.subarray(KEY_BYTES);
  const output = cbcEncrypt(key, ZEROS, X);
  wipe(ivAndS, temp);
  return output;
}

/**
 * Returns one block for the IV, then S = L ‖ N ‖ input ‖ 0x80 ‖ zeros to a whole block (steps 2 to
 * 5).
 */
function formatInput(parts: readonly Uint8Array[]): Buffer {
  const inputLength = parts.reduce((sum, part) => sum + part.length, 0);
  const sLength = Math.ceil((8 + inputLength + 1) / BLOCK_BYTES) * BLOCK_BYTES;
  const ivAndS = Buffer.alloc(BLOCK_BYTES + sLength);
  let offset = ivAndS.writeUInt32BE(inputLength, BLOCK_BYTES);
  offset = ivAndS.writeUInt32BE(SEED_LENGTH_BYTES, offset);
  for (const part of parts) {
    ivAndS.set(part, offset);
    offset += part.length;
  }
  ivAndS[offset] = 0x80;
  return ivAndS;
}

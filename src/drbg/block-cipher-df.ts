/**
 * Block_Cipher_df, the derivation function of NIST SP 800-90A Rev. 1 §10.3.2, for AES-256 and
 * seedlen = 384 bits. It conditions the concatenated output of all entropy sources into one seed.
 */
import { type Cipheriv, createCipheriv } from 'node:crypto';
import { newBytes, wipe } from '../bytes.ts';
import { BLOCK_BYTES, cbcEncrypt, KEY_BYTES } from './_aes.ts';

/** SP 800-90A Rev. 1 Table 3: seedlen = blocklen + keylen = 384 bits for AES-256. */
export const SEED_LENGTH_BYTES = 48;

// §10.3.2 step 8: K = leftmost (0x00010203…1D1E1F, keylen).
const K: Buffer = Buffer.alloc(KEY_BYTES);
for (let i = 0; i < KEY_BYTES; i++) K[i] = i;

const ZEROS: Buffer = Buffer.alloc(SEED_LENGTH_BYTES);
const ZERO_BLOCK: Buffer = ZEROS.subarray(0, BLOCK_BYTES);

/**
 * Scratch memory of this thread, wiped after each call: new memory for each costs 1 µs (bench/key-path.ts). A longer input
 * gets its own. The seed material of a reseed from `os` and the additional input take 144 bytes.
 */
const IV_AND_S: Buffer = newBytes(512);
const TEMP: Buffer = newBytes(SEED_LENGTH_BYTES);
/** The three results of step 9, one for each chain. */
const CHAIN_RESULTS: readonly Buffer[] = [0, 1, 2].map((i) =>
  TEMP.subarray(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES),
);
// Step 10: K = the first 32 bytes. Step 11: X = the next 16.
const DERIVED_K: Buffer = TEMP.subarray(0, KEY_BYTES);
const DERIVED_X: Buffer = TEMP.subarray(KEY_BYTES);

/** Derives 48 bytes from the concatenation of `parts`. The caller MUST wipe the result. */
export function blockCipherDf(...parts: readonly Uint8Array[]): Buffer {
  const ivAndS = formatInput(parts);
  try {
    encryptChains(ivAndS);
    // Steps 12 to 14: out = E(X) ‖ E(E(X)) ‖ E(E(E(X))). CBC over zero blocks feeds each output back as the next input, so
    // one pass computes all three.
    return cbcEncrypt(DERIVED_K, ZEROS, DERIVED_X);
  } finally {
    wipe(ivAndS, TEMP);
  }
}

/**
 * A context of CBC under K. K is constant, so one context serves all calls of the thread: opening one costs three times
 * as much as using it (bench/key-path.ts). It is never finalised, so it holds a chaining value.
 */
interface Chain {
  readonly cipher: Cipheriv;
  /** The chaining value between calls, which is public: E(K, 0). */
  readonly idleValue: Buffer;
}

/** The context between calls. It is missing during a call, so that a call which throws leaves it to be collected. */
let idle: Chain | undefined;

function openChain(): Chain {
  const cipher = createCipheriv('aes-256-cbc', K, ZERO_BLOCK).setAutoPadding(false);
  return { cipher, idleValue: cipher.update(ZERO_BLOCK) };
}

/**
 * Step 9: TEMP = BCC(K, IV_0 ‖ S) ‖ BCC(K, IV_1 ‖ S) ‖ BCC(K, IV_2 ‖ S), 48 bytes. §10.3.3: BCC is the last block of a CBC
 * pass with a zero IV. The first block of `ivAndS` is overwritten.
 */
function encryptChains(ivAndS: Buffer): void {
  const chain = idle ?? openChain();
  idle = undefined;
  let last = chain.idleValue;
  for (const [i, result] of CHAIN_RESULTS.entries()) {
    // Step 9.1: IV is the 32-bit i padded with zeros to one block. CBC XORs the chaining value with the first block, so
    // the block that already contains it gives the pass a zero IV.
    ivAndS.set(last);
    ivAndS[3] ^= i;
    const blocks = chain.cipher.update(ivAndS);
    blocks.copy(result, 0, blocks.length - BLOCK_BYTES);
    wipe(blocks);
    last = result;
  }
  // The chaining value is secret now, because anyone can decrypt under K. Its XOR with itself is 0, so it becomes E(K, 0).
  chain.cipher.update(last);
  idle = chain;
}

/**
 * Returns one block for the IV, then S = L ‖ N ‖ input ‖ 0x80 ‖ zeros to a whole block (steps 2 to
 * 5).
 */
function formatInput(parts: readonly Uint8Array[]): Buffer {
  let inputLength = 0;
  for (const part of parts) inputLength += part.length;
  const length = BLOCK_BYTES + Math.ceil((8 + inputLength + 1) / BLOCK_BYTES) * BLOCK_BYTES;
  const ivAndS = length <= IV_AND_S.length ? IV_AND_S.subarray(0, length) : newBytes(length);
  let offset = ivAndS.writeUInt32BE(inputLength, BLOCK_BYTES);
  offset = ivAndS.writeUInt32BE(SEED_LENGTH_BYTES, offset);
  for (const part of parts) {
    ivAndS.set(part, offset);
    offset += part.length;
  }
  ivAndS[offset] = 0x80;
  ivAndS.fill(0, offset + 1);
  return ivAndS;
}

/**
 * A slow, literal CTR_DRBG with AES-256 and derivation function that follows the process steps of
 * NIST SP 800-90A Rev. 1 §10.2.1, §10.3.2 and §10.3.3, one block at a time. It is the oracle of the
 * differential tests. It checks no limits and shares no code with src/drbg.
 */
import { createCipheriv } from 'node:crypto';

const BLOCKLEN = 16;
const KEYLEN = 32;
const SEEDLEN = 48;

interface ReferenceState {
  V: Buffer;
  Key: Buffer;
  reseedCounter: number;
}

// §10.3.3 Block_Encrypt.
function blockEncrypt(key: Buffer, input: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  return Buffer.concat([cipher.update(input), cipher.final()]);
}

// §10.3.3 BCC.
function bcc(key: Buffer, data: Buffer): Buffer {
  let chainingValue: Buffer = Buffer.alloc(BLOCKLEN);
  const n = data.length / BLOCKLEN;
  for (let i = 1; i <= n; i++) {
    const block = data.subarray((i - 1) * BLOCKLEN, i * BLOCKLEN);
    chainingValue = blockEncrypt(key, xor(chainingValue, block));
  }
  return chainingValue;
}

// §10.3.2 Block_Cipher_df with no_of_bits_to_return = seedlen.
export function referenceDf(inputString: Uint8Array): Buffer {
  const L = u32(inputString.length);
  const N = u32(SEEDLEN);
  let S: Buffer = Buffer.concat([L, N, inputString, Buffer.from([0x80])]);
  while (S.length % BLOCKLEN !== 0) S = Buffer.concat([S, Buffer.from([0x00])]);
  let temp: Buffer = Buffer.alloc(0);
  let i = 0;
  let K: Buffer = Buffer.from(Array.from({ length: KEYLEN }, (_, byte) => byte));
  while (temp.length < KEYLEN + BLOCKLEN) {
    const IV = Buffer.concat([u32(i), Buffer.alloc(BLOCKLEN - 4)]);
    temp = Buffer.concat([temp, bcc(K, Buffer.concat([IV, S]))]);
    i = i + 1;
  }
  K = temp.subarray(0, KEYLEN);
  let X: Buffer = temp.subarray(KEYLEN, KEYLEN + BLOCKLEN);
  temp = Buffer.alloc(0);
  while (temp.length < SEEDLEN) {
    X = blockEncrypt(K, X);
    temp = Buffer.concat([temp, X]);
  }
  return temp.subarray(0, SEEDLEN);
}

// §10.2.1.2 CTR_DRBG_Update.
function update(providedData: Buffer, state: ReferenceState): void {
  let temp: Buffer = Buffer.alloc(0);
  while (temp.length < SEEDLEN) {
    state.V = plusOne(state.V);
    temp = Buffer.concat([temp, blockEncrypt(state.Key, state.V)]);
  }
  temp = xor(temp.subarray(0, SEEDLEN), providedData);
  state.Key = temp.subarray(0, KEYLEN);
  state.V = temp.subarray(SEEDLEN - BLOCKLEN);
}

// §10.2.1.3.2.
export function referenceInstantiate(
  entropyInput: Uint8Array,
  nonce: Uint8Array,
  personalizationString: Uint8Array,
): ReferenceState {
  const seedMaterial = referenceDf(Buffer.concat([entropyInput, nonce, personalizationString]));
  const state: ReferenceState = {
    Key: Buffer.alloc(KEYLEN),
    V: Buffer.alloc(BLOCKLEN),
    reseedCounter: 1,
  };
  update(seedMaterial, state);
  return state;
}

// §10.2.1.4.2.
export function referenceReseed(
  state: ReferenceState,
  entropyInput: Uint8Array,
  additionalInput: Uint8Array,
): void {
  update(referenceDf(Buffer.concat([entropyInput, additionalInput])), state);
  state.reseedCounter = 1;
}

// §10.2.1.5.2.
export function referenceGenerate(
  state: ReferenceState,
  lengthBytes: number,
  additionalInput: Uint8Array,
): Buffer {
  let additional: Buffer = Buffer.alloc(SEEDLEN);
  if (additionalInput.length > 0) {
    additional = referenceDf(additionalInput);
    update(additional, state);
  }
  const blocks: Buffer[] = [];
  while (blocks.length * BLOCKLEN < lengthBytes) {
    state.V = plusOne(state.V);
    blocks.push(blockEncrypt(state.Key, state.V));
  }
  const returnedBits = Buffer.concat(blocks).subarray(0, lengthBytes);
  update(additional, state);
  state.reseedCounter += 1;
  return returnedBits;
}

function plusOne(block: Buffer): Buffer {
  const next = (BigInt(`0x${block.toString('hex')}`) + 1n) % (1n << 128n);
  return Buffer.from(next.toString(16).padStart(32, '0'), 'hex');
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, i) => byte ^ b[i]));
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

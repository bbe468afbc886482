/**
 * Finds a word of 64 bits that repeats among the last 65,536 words of a generator's keys or carriers, at any place: a stuck
 * half, or a part that takes few values.
 *
 * A word w is remembered as 96 bits of E(w ‖ 0) ⊕ (w ‖ 0), with AES-256 under a random key of this thread. Without the first
 * 32 bits, and because the word itself is added, the cipher cannot be undone: who reads this memory, with the key, has to try
 * the 2^64 values of a word, and finds all remembered words by that. Two words of sound keys are equal with probability
 * 2^-64; docs/random-bit-generation.md has the rate of false alarms.
 */
import { type Cipheriv, createCipheriv, randomFillSync } from 'node:crypto';
import { newBytes, wipe } from '../bytes.ts';
import { RecentDigests } from '../entropy/index.ts';

/** Name of the test. */
export const REPEATED_WORD = 'word';

/** Words remembered: those of 16,384 keys of 256 bits. */
export const REMEMBERED_WORDS = 65_536;

const WORD_BYTES = 8;
const BLOCK_BYTES = 16;
const DIGEST_BYTES = 12;

/** Bytes of a block before its digest. */
const SKIPPED_BYTES = BLOCK_BYTES - DIGEST_BYTES;
const MAX_KEY_BYTES = 48;

export class RecentWords {
  readonly #cipher: Cipheriv = newCipher();
  /** One block for each word: the word, then zeros. */
  readonly #blocks: Buffer = newBytes((MAX_KEY_BYTES / WORD_BYTES) * BLOCK_BYTES);
  readonly #recent = new RecentDigests(REMEMBERED_WORDS, DIGEST_BYTES);

  /** Reports whether a word of the key repeats one of the last words, or another word of this key. Remembers the others. */
  sees(key: Uint8Array): boolean {
    const lengthBytes = 2 * key.length;
    const blocks = this.#blocks;
    // Byte by byte: a view of each word would cost more than the cipher.
    for (let i = 0; i < key.length; i++) blocks[2 * (i & -WORD_BYTES) + (i % WORD_BYTES)] = key[i];
    const digests = this.#cipher.update(blocks.subarray(0, lengthBytes));
    for (let i = 0; i < lengthBytes; i++) digests[i] ^= blocks[i];
    blocks.fill(0);
    let repeats = false;
    // Every word is remembered, also after one that repeats.
    for (let at = SKIPPED_BYTES; at < lengthBytes; at += BLOCK_BYTES) {
      if (this.#recent.sees(digests, at)) repeats = true;
    }
    // The rest of each block would undo the cipher.
    digests.fill(0);
    return repeats;
  }
}

function newCipher(): Cipheriv {
  const key = randomFillSync(newBytes(32));
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  wipe(key);
  return cipher;
}

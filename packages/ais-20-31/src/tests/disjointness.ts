/** T0, the disjointness test (KS2011 §2.4.4.1): no two of 2^16 words of 48 bits are equal. */
import type { ElementaryTest } from '../result.ts';
import { wordAt } from './words.ts';

export const WORDS = 65_536;
export const WORD_BITS = 48;

/** Reads one word from each `strideBits` bits. `strideBits` is a multiple of the width of a random number, at least 48. */
export function disjointness(bits: Uint8Array, strideBits: number): ElementaryTest {
  const words = Float64Array.from({ length: WORDS }, (_, i) =>
    wordAt(bits, i * strideBits, WORD_BITS),
  ).sort();
  let repetitions = 0;
  for (let i = 1; i < WORDS; i++) if (words[i] === words[i - 1]) repetitions++;
  const statistics = { words: WORDS, repetitions };
  const limit = 'no repetition';
  return { name: 'T0', on: 'all words', statistics, limit, passed: repetitions === 0 };
}

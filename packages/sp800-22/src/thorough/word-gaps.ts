/**
 * Gaps of words. Not part of SP 800-22.
 *
 * Does the same word of 16 bits come again after one certain number of words too often? Hashes of counters, and streams that
 * repeat or resemble themselves far back, do so. For each gap g, the words that equal the one g places earlier are independent
 * events of probability 2^-16 for a sound source, since a word is uniform whatever came before. Gaps count only those without
 * the same word between, which are no more. So the binomial tail of the largest count, times the number of gaps, is
 * super-uniform.
 */
import { binomialUpper } from '../binomial.ts';
import type { TestResult } from '../result.ts';
import { corrected } from './bounds.ts';
import { wipe } from './planes.ts';

const VALUES = 2 ** 16;

export function wordGaps(bytes: Uint8Array): TestResult {
  const words = bytes.length >>> 1;
  const last = new Int32Array(VALUES).fill(-1);
  const counts = new Uint32Array(words);
  for (let i = 0; i < words; i++) {
    const word = (bytes[2 * i] << 8) | bytes[2 * i + 1];
    if (last[word] >= 0) counts[i - last[word]]++;
    last[word] = i;
  }
  wipe(last);
  let gap = 1;
  for (let g = 1; g < words; g++) if (counts[g] > counts[gap]) gap = g;
  const count = counts[gap];
  const p = corrected(binomialUpper(count, words, 1 / VALUES), words - 1);
  return { pValues: [p], statistics: { words, gap, count, expected: words / VALUES } };
}

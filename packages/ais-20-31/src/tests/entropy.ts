/**
 * T8, the entropy test (KS2011 §2.4.4.2; J.-S. Coron, "On the Security of Random Sources", PKC 1999): L = 8, Q = 2,560,
 * K = 256,000. The average of g(distance to the last equal byte) estimates the entropy of a byte of a stationary source
 * with little memory, and must exceed 7.976 bits.
 */
import type { ElementaryTest } from '../result.ts';
import { wordAt } from './words.ts';

const WORD_BITS = 8;
const INITIAL_WORDS = 2_560;
const TEST_WORDS = 256_000;
const BOUND = 7.976;

export const ENTROPY_TEST_BITS: number = WORD_BITS * (INITIAL_WORDS + TEST_WORDS);

export function entropyTest(bits: Uint8Array): ElementaryTest {
  const g = coronWeights();
  // Word n is number n + 1, so that a byte that never occurred has the distance n + 1 (place 0).
  const last = new Int32Array(2 ** WORD_BITS).fill(-1);
  let sum = 0;
  for (let n = 0; n < INITIAL_WORDS + TEST_WORDS; n++) {
    const word = wordAt(bits, n * WORD_BITS, WORD_BITS);
    if (n >= INITIAL_WORDS) sum += g[n - last[word]];
    last[word] = n;
  }
  const entropy = sum / TEST_WORDS;
  return {
    name: 'T8',
    on: 'bytes',
    statistics: { bits_per_byte: entropy },
    limit: 'above 7.976',
    passed: entropy > BOUND,
  };
}

/** g(i) = (1 / ln 2) · (1/1 + 1/2 + … + 1/(i − 1)), for distances i from 1. */
function coronWeights(): Float64Array {
  const weights = new Float64Array(INITIAL_WORDS + TEST_WORDS + 1);
  let harmonic = 0;
  for (let i = 1; i < weights.length; i++) {
    weights[i] = harmonic / Math.LN2;
    harmonic += 1 / i;
  }
  return weights;
}

/**
 * Random permutations: the Fisher-Yates shuffle of SP 800-90B §5.1, with random numbers of
 * xoshiro128** 1.1 by Blackman and Vigna (https://prng.di.unimi.it).
 *
 * Permutation i uses the numbers from the (i · 2^64)th on, so that permutations share none, and none
 * depends on the thread that makes it. NIST's program uses xoshiro256**.
 */

import { outOfRange, wrongType } from '../../../sp800-22/src/arguments.ts';

/** Four words of 32 bits, not all zero. */
export type ShuffleState = readonly [number, number, number, number];

/** The polynomial that skips 2^64 numbers. */
const JUMP = [0x8764000b, 0xf542d2d3, 0x6fa035c3, 0x77f2db5b];

/** Digits of a seed: 128 bits. */
const SEED_DIGITS = 32;

/**
 * Returns the state of a seed of up to 32 hexadecimal digits. Throws `RangeError` for other text.
 * Different seeds have different states; a short seed is mixed, since its zeros would be visible in
 * the first numbers.
 */
export function seededState(seed: string): ShuffleState {
  const expected = '1 to 32 hexadecimal digits';
  if (typeof seed !== 'string') throw wrongType('seed', expected, seed);
  if (!/^[0-9a-f]{1,32}$/i.test(seed)) throw outOfRange('seed', expected, seed);
  const digits = seed.padStart(SEED_DIGITS, '0');
  const word = (i: number): number =>
    mix(Number.parseInt(digits.slice(8 * i, 8 * i + 8), 16) + Math.imul(i + 1, 0x9e37_79b9));
  const state: ShuffleState = [word(0), word(1), word(2), word(3)];
  // The generator never leaves the state of zeros, to which one seed would lead.
  return state.some((part) => part !== 0) ? state : [1, 0, 0, 0];
}

/** The finaliser of MurmurHash3 by Austin Appleby: a permutation of the words of 32 bits. */
function mix(word: number): number {
  let mixed = word | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Returns the state 2^64 numbers later. */
export function nextState(state: ShuffleState): ShuffleState {
  const jumped: [number, number, number, number] = [0, 0, 0, 0];
  let [s0, s1, s2, s3] = state;
  for (const word of JUMP) {
    for (let bit = 0; bit < 32; bit++) {
      if ((word >>> bit) & 1) {
        jumped[0] ^= s0;
        jumped[1] ^= s1;
        jumped[2] ^= s2;
        jumped[3] ^= s3;
      }
      const shifted = s1 << 9;
      s2 ^= s0;
      s3 ^= s1;
      s1 ^= s2;
      s0 ^= s3;
      s2 ^= shifted;
      s3 = (s3 << 11) | (s3 >>> 21);
    }
  }
  return jumped;
}

/**
 * Shuffles in place: the last sample first, with one at or before it.
 *
 * A position comes from the upper half of a product of 64 bits: Lemire, "Fast Random Integer
 * Generation in an Interval", ACM TOMACS 29 (2019). Products whose lower half is below 2^32 mod
 * `limit` are rejected, so every position has the same probability. The state is in local variables,
 * which saves time (measured, `packages/sp800-90b/bench/iid.ts`).
 */
export function shuffle(samples: Uint8Array, state: ShuffleState): void {
  let s0 = state[0] | 0;
  let s1 = state[1] | 0;
  let s2 = state[2] | 0;
  let s3 = state[3] | 0;
  for (let limit = samples.length; limit > 1; ) {
    const scrambled = Math.imul(s1, 5);
    const word = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
    const shifted = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= shifted;
    s3 = (s3 << 11) | (s3 >>> 21);
    const lower = Math.imul(word, limit) >>> 0;
    if (lower < limit && lower < 2 ** 32 % limit) continue;
    // Less the lower half, the product is a multiple of 2^32, which rounding cannot change.
    const other = ((word * limit - lower) * 2 ** -32 + 0.5) | 0;
    limit--;
    const sample = samples[limit];
    samples[limit] = samples[other];
    samples[other] = sample;
  }
}

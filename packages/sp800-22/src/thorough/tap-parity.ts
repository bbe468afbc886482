/**
 * Parities of three bits. Not part of SP 800-22.
 *
 * Is the sum mod 2 of a bit and two earlier ones more often 0 or 1? Generators of two lags are made so. Streams are the
 * lowest bit of each byte of a word, and the sum of the highest two: an addition mod 2^k keeps a correlation of ½ there.
 * The terms of a sum are independent for a sound source, as in windows. The smallest bound times the number of all pairs
 * of lags and streams is super-uniform.
 */
import type { Statistics, TestResult } from '../result.ts';
import { corrected, signSumBound } from './bounds.ts';
import { packed, planeBits, planeOf, shiftedCopies, WORD_BITS, wipe } from './planes.ts';

/** The largest lag. */
const LAGS = 640;
/** Terms of a sum, a multiple of 32. A correlation of ½ is then 16 σ from zero. */
const TERMS = 1024;

interface Found {
  readonly p: number;
  readonly near: number;
  readonly far: number;
  readonly z: number;
  readonly width: number;
  readonly place: number;
}

export function tapParity(bytes: Uint8Array, lags = LAGS, terms = TERMS): TestResult {
  let streams = 0;
  let least: Found | undefined;
  for (const { bits, ...where } of streamsOf(bytes, lags + terms)) {
    streams++;
    const found = { ...farthest(bits, lags, terms), ...where };
    if (!least || Math.abs(found.z) > Math.abs(least.z)) least = found;
  }
  const { p, ...where } = least as Found;
  const pairs = (lags * (lags - 1)) / 2;
  return {
    pValues: [corrected(p, streams * pairs)],
    statistics: { streams, pairs, ...where } as Statistics,
  };
}

/** Yields the first `length` bits of each stream that has as many. */
function* streamsOf(
  bytes: Uint8Array,
  length: number,
): Generator<{ bits: Uint8Array; width: number; place: number }> {
  for (const width of WORD_BITS) {
    if (planeBits(bytes, { width, place: 0 }) < length) continue;
    for (let top = 0; top < width; top += 8) {
      const place = top + 7;
      yield { bits: planeOf(bytes, { width, place }, length), width, place };
      const [high, next] = [top, top + 1].map((at) => planeOf(bytes, { width, place: at }, length));
      yield { bits: high.map((bit, i) => bit ^ next[i]), width, place: top };
    }
  }
}

/** Returns the lags 0 < near < far of the sum that is farthest from even. */
function farthest(
  bits: Uint8Array,
  lags: number,
  terms: number,
): { p: number; near: number; far: number; z: number } {
  const copies = shiftedCopies(packed(bits));
  const words = terms / 32;
  const head = copies[0];
  const sum = new Int32Array(words);
  let [largest, near, far] = [-1, 0, 0];
  for (let a = 1; a < lags; a++) {
    const shifted = copies[a & 31];
    for (let i = 0; i < words; i++) sum[i] = head[i] ^ shifted[i + (a >>> 5)];
    for (let b = a + 1; b <= lags; b++) {
      const excess = Math.abs(terms - 2 * ones(sum, copies[b & 31], b >>> 5, words));
      if (excess > largest) [largest, near, far] = [excess, a, b];
    }
  }
  wipe(bits, sum, ...copies);
  // Bits are read forwards: the newest is the one `far` places on.
  return { p: signSumBound(largest, terms), near: far - near, far, z: largest / Math.sqrt(terms) };
}

/** Returns the ones of sum ^ (the words of `other` from `start` on). */
function ones(sum: Int32Array, other: Int32Array, start: number, words: number): number {
  let total = 0;
  for (let i = 0; i < words; i++) {
    let x = sum[i] ^ other[i + start];
    x -= (x >>> 1) & 0x55555555;
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
    x = (x + (x >>> 4)) & 0x0f0f0f0f;
    total += Math.imul(x, 0x01010101) >>> 24;
  }
  return total;
}

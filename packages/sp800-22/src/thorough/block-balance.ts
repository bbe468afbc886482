/**
 * The balance of blocks: is the number of ones in blocks of a stream, or of a bit plane of its words, more uneven than
 * chance, or too even? Not part of SP 800-22.
 *
 * A drift or a slow bias makes it uneven. A bit with a short period, as the low bits of a congruential generator have also
 * after their order was shuffled, makes it too even. χ² = Σ S² / M of N blocks of M signs with sums S. For a sound source
 *
 * - E exp(t S²/M) ≤ (1 − 2t)^(−1/2) for 0 ≤ t < 1/2 (`bounded-p-values.ts`);
 * - E exp(−t S²/M) = E cos(g √(2t/M))^M for a normal variable g ≤ (1 + 2t)^(−1/2) + 3 (2t)^(−1/2) exp(−M π² / 16t): |cos y| is at
 *   most exp(−d²/2) for the distance d of y to the next multiple of π, and all multiples but 0 are that rare.
 *
 * Chernoff's inequality gives the bounds of both tails, so the p-value is super-uniform at every length.
 */
import { exp, log1p } from '../elementary.ts';
import type { Statistics, TestResult } from '../result.ts';
import { chiSquaredBound } from '../source-rule/bounded-p-values.ts';
import { corrected } from './bounds.ts';
import { WORD_BITS } from './planes.ts';

const SHORTEST_BLOCK = 2 ** 8;

/** Fewer blocks show little. */
const FEWEST_BLOCKS = 8;

/** Bits of each byte that are one. */
const ONES = Uint8Array.from({ length: 256 }, (_, byte) => {
  let ones = 0;
  for (let bits = byte; bits > 0; bits >>>= 1) ones += bits & 1;
  return ones;
});

interface Found {
  readonly p: number;
  readonly width: number;
  readonly place: number;
  readonly block: number;
  readonly blocks: number;
  readonly chi2: number;
}

export function blockBalance(bytes: Uint8Array): TestResult {
  const found = [
    ...judge(sumsOfStream(bytes), 0, 0),
    ...WORD_BITS.flatMap((width) =>
      Array.from({ length: width }, (_, place) =>
        judge(sumsOfPlane(bytes, width, place), width, place),
      ).flat(),
    ),
  ];
  const { p, ...where } = found.reduce((least, one) => (one.p < least.p ? one : least));
  return { pValues: [corrected(p, 2 * found.length)], statistics: { ...where } as Statistics };
}

/** Returns the sums of signs of the shortest blocks of the stream. */
function sumsOfStream(bytes: Uint8Array): Int32Array {
  const size = SHORTEST_BLOCK / 8;
  const sums = new Int32Array(Math.floor(bytes.length / size));
  for (let block = 0; block < sums.length; block++) {
    let ones = 0;
    for (let at = block * size, end = at + size; at < end; at++) ones += ONES[bytes[at]];
    sums[block] = 2 * ones - SHORTEST_BLOCK;
  }
  return sums;
}

function sumsOfPlane(bytes: Uint8Array, width: number, place: number): Int32Array {
  const step = width / 8;
  const shift = 7 - (place & 7);
  const sums = new Int32Array(Math.floor(bytes.length / (step * SHORTEST_BLOCK)));
  for (let block = 0, at = place >>> 3; block < sums.length; block++) {
    let ones = 0;
    for (let i = 0; i < SHORTEST_BLOCK; i++, at += step) ones += (bytes[at] >>> shift) & 1;
    sums[block] = 2 * ones - SHORTEST_BLOCK;
  }
  return sums;
}

/** Judges blocks of each power of two of the shortest length. Overwrites the sums, which are of bits that may be secret. */
function judge(sums: Int32Array, width: number, place: number): Found[] {
  const found: Found[] = [];
  let block = SHORTEST_BLOCK;
  for (let blocks = sums.length; blocks >= FEWEST_BLOCKS; blocks >>>= 1, block *= 2) {
    let squares = 0;
    for (let i = 0; i < blocks; i++) squares += sums[i] * sums[i];
    const chi2 = squares / block;
    found.push({ p: balanceBound(chi2, blocks, block), width, place, block, blocks, chi2 });
    for (let i = 0; i < blocks >>> 1; i++) sums[i] = sums[2 * i] + sums[2 * i + 1];
  }
  sums.fill(0);
  return found;
}

/** Returns a bound of the probability that χ² of `N` blocks of `M` signs is at least as far from N, on the same side, as `x`. */
export function balanceBound(x: number, N: number, M: number): number {
  if (x >= N) return chiSquaredBound(x, N);
  const t = x > 0 ? Math.min((N / x - 1) / 2, M / 32) : M / 32;
  const others = 3 * Math.sqrt((1 + 2 * t) / (2 * t)) * exp((-M * Math.PI * Math.PI) / (16 * t));
  return Math.min(1, exp(t * x - (N / 2) * log1p(2 * t) + N * log1p(others)));
}

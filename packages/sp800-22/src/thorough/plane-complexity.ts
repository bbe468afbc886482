/**
 * Linear complexity of bit planes. Not part of SP 800-22.
 *
 * Does a feedback register shorter than half of a plane produce it? The lowest bits of the first and the last byte of each
 * word are tested, up to 2^16 of them: registers of 19,937 bits are found. The law of the complexity is exact, and the
 * smallest tail times the number of planes is super-uniform.
 */
import type { Statistics, TestResult } from '../result.ts';
import { complexityTail, corrected } from './bounds.ts';
import { packed, planeBits, planeOf, shiftedCopies, WORD_BITS, wipe } from './planes.ts';

const MOST_BITS = 2 ** 16;

interface Found {
  readonly p: number;
  readonly n: number;
  readonly L: number;
  readonly width: number;
  readonly place: number;
}

export function planeComplexity(bytes: Uint8Array): TestResult {
  const planes = WORD_BITS.flatMap((width) =>
    [...new Set([7, width - 1])].map((place) => ({ width, place })),
  );
  let least: Found | undefined;
  for (const plane of planes) {
    const n = Math.min(MOST_BITS, planeBits(bytes, plane));
    const bits = planeOf(bytes, plane, n);
    const L = linearComplexityOf(bits);
    wipe(bits);
    const p = complexityTail(L, n);
    // By the exponent of p, which may underflow.
    if (!least || n - 2 * L > least.n - 2 * least.L) least = { p, n, L, ...plane };
  }
  const { p, ...where } = least as Found;
  return {
    pValues: [corrected(p, planes.length)],
    statistics: { planes: planes.length, ...where } as Statistics,
  };
}

/**
 * Returns the linear complexity of all bits, by Berlekamp and Massey with the symbols of the Handbook of Applied
 * Cryptography, algorithm 6.30. Unlike `BerlekampMassey`, it moves B only when it is added, and reads the bits in reverse
 * from 32 shifted copies: a fourth of the time for 2^16 bits.
 */
export function linearComplexityOf(bits: Uint8Array): number {
  const n = bits.length;
  const reversed = Uint8Array.from(bits).reverse();
  const copies = shiftedCopies(packed(reversed));
  const size = (n >>> 5) + 3;
  let [C, B, T] = [new Int32Array(size), new Int32Array(size), new Int32Array(size)];
  C[0] = B[0] = 1;
  let [L, m, degreeOfB] = [0, -1, 0];
  for (let N = 0; N < n; N++) {
    // Bit i of the stretch from n − 1 − N on is s_(N−i).
    const start = n - 1 - N;
    if (parity(C, copies[start & 31], start >>> 5, L >>> 5) === 0) continue;
    if (2 * L > N) {
      addShifted(C, B, N - m, degreeOfB >>> 5);
      continue;
    }
    T.set(C);
    addShifted(C, B, N - m, degreeOfB >>> 5);
    [B, T] = [T, B];
    degreeOfB = L;
    m = N;
    L = N + 1 - L;
  }
  wipe(reversed, C, B, T, ...copies);
  return L;
}

/** Returns the parity of the places at which both have a one, in the words 0 to `last` of C. */
function parity(C: Int32Array, s: Int32Array, start: number, last: number): number {
  let x = 0;
  for (let i = 0; i <= last; i++) x ^= C[i] & s[i + start];
  x ^= x >>> 16;
  x ^= x >>> 8;
  x ^= x >>> 4;
  return (0x6996 >>> (x & 15)) & 1;
}

/** C += B · D^by, for the words 0 to `last` of B. */
function addShifted(C: Int32Array, B: Int32Array, by: number, last: number): void {
  const offset = by >>> 5;
  const k = by & 31;
  if (k === 0) {
    for (let i = 0; i <= last; i++) C[i + offset] ^= B[i];
    return;
  }
  let below = 0;
  for (let i = 0; i <= last; i++) {
    C[i + offset] ^= (B[i] << k) | below;
    below = B[i] >>> (32 - k);
  }
  C[last + 1 + offset] ^= below;
}

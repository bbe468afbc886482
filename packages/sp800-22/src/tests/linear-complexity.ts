/**
 * Linear complexity test. SP 800-22 Rev. 1a §2.10, §3.10.
 *
 * How long is the shortest linear feedback shift register that produces each block of M bits?
 */

import { assertOptions, checkedLater, type Members } from '../arguments.ts';
import { CONSTANTS, type Constants, LINEAR_COMPLEXITY_PI } from '../constants.ts';
import type { TestDefinition } from '../definition.ts';
import { assertInteger, assertLengthBits, chiSquared, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';

/** The NIST program's default; §2.10.7 asks for 500 ≤ M ≤ 5000. */
export const LINEAR_COMPLEXITY_M = 500;

export const linearComplexityTest: TestDefinition = {
  // §2.10.7.
  minimumBits: 1_000_000,
  run: (bits, { constants, parameters: { linearComplexityM: M } }) =>
    linearComplexity(bits, { M, constants }),
  count: (counts, { constants, parameters: { linearComplexityM: M } }) => {
    const nu = new Array<number>(7).fill(0);
    for (const [L, blocks] of counts.complexities(M)) nu[classOfComplexity(L, M)] += blocks;
    return judgeLinearComplexity({ M, N: Math.floor(counts.n / M), nu }, constants);
  },
  parameters: ({ M, N }, constants) => ({ M, N, pi: LINEAR_COMPLEXITY_PI[constants] }),
};

interface LinearComplexityOptions {
  readonly M?: number;
  readonly constants?: Constants;
}

const OPTIONS: Members<LinearComplexityOptions> = { M: checkedLater, constants: CONSTANTS };

export function linearComplexity(
  bits: Uint8Array,
  options: LinearComplexityOptions = {},
): TestResult {
  assertOptions('options', options, OPTIONS);
  const { M = LINEAR_COMPLEXITY_M, constants = 'exact' } = options;
  assertInteger('M', M, 4, 2 ** 20);
  assertLengthBits(bits, M);

  // Step 1: N blocks of M bits.
  const N = Math.floor(bits.length / M);

  // Steps 2 to 5: L_i of each block, T_i, and the class of T_i.
  const measure = new BerlekampMassey(M);
  const nu = new Array<number>(7).fill(0);
  for (let i = 0; i < N; i++) nu[classOfComplexity(measure.complexity(bits, i * M), M)]++;

  return judgeLinearComplexity({ M, N, nu }, constants);
}

/** Computes the test from the counts ν of the classes of T over N blocks of M bits. */
function judgeLinearComplexity(
  { M, N, nu }: { M: number; N: number; nu: readonly number[] },
  constants: Constants,
): TestResult {
  // Step 6: χ² over the K + 1 = 7 classes.
  const chi2 = chiSquared(nu, LINEAR_COMPLEXITY_PI[constants], N);

  // Step 7: p = igamc(K/2, χ²/2).
  return { pValues: [igamc(3, chi2 / 2)], statistics: { M, N, nu, chi2 } };
}

/** Step 5: returns the class of L. T ≤ −2.5; −2.5 < T ≤ −1.5; …; 1.5 < T ≤ 2.5; T > 2.5. */
function classOfComplexity(L: number, M: number): number {
  const T = deviation(L, M, expectedComplexity(M));
  return Math.min(6, Math.max(0, Math.ceil(T + 2.5)));
}

/** Step 3: returns μ = M/2 + (9 + (−1)^(M+1)) / 36 − (M/3 + 2/9) / 2^M. */
export function expectedComplexity(M: number): number {
  const sign = M % 2 === 0 ? -1 : 1;
  return M / 2 + (9 + sign) / 36 - (M / 3 + 2 / 9) * 2 ** -M;
}

/** Step 4: returns T = (−1)^M (L − μ) + 2/9. */
export function deviation(L: number, M: number, mu: number): number {
  return (M % 2 === 0 ? 1 : -1) * (L - mu) + 2 / 9;
}

/**
 * The Berlekamp–Massey algorithm over GF(2), 32 coefficients per word, with the symbols of the Handbook
 * of Applied Cryptography, algorithm 6.30. One instance serves blocks of `M` bits.
 */
export class BerlekampMassey {
  readonly #M: number;
  /** Connection polynomial C(D); bit i is the coefficient of D^i. */
  #C: Int32Array;
  /** B(D) · D^(N−m): the polynomial before the last change of length, shifted up as N moves on. */
  #B: Int32Array;
  /** The bits read so far in reverse: bit i is s_(N−i). */
  readonly #s: Int32Array;

  constructor(M: number) {
    const words = Math.ceil((M + 1) / 32) + 1;
    this.#M = M;
    this.#C = new Int32Array(words);
    this.#B = new Int32Array(words);
    this.#s = new Int32Array(words);
  }

  /** Step 2: returns the linear complexity L of the M bits from `start`. */
  complexity(bits: Uint8Array, start: number): number {
    this.#C.fill(0);
    this.#B.fill(0);
    this.#s.fill(0);
    this.#C[0] = 1;
    this.#B[0] = 1;
    let L = 0;
    for (let N = 0; N < this.#M; N++) {
      // Only these words can be nonzero so far: the degrees are at most N + 1.
      const words = ((N + 1) >>> 5) + 1;
      shiftIn(this.#s, bits[start + N], words);
      shiftIn(this.#B, 0, words);
      // The discrepancy d = s_N + Σ c_i s_(N−i). 0: the register predicts s_N.
      if (productParity(this.#C, this.#s, words) === 0) continue;
      if (2 * L > N) {
        addInto(this.#C, this.#B, words);
      } else {
        // The register grows: B becomes the old C, C becomes C + B.
        addInto(this.#B, this.#C, words);
        [this.#C, this.#B] = [this.#B, this.#C];
        L = N + 1 - L;
      }
    }
    return L;
  }
}

/** Multiplies by D: moves all bits up by one and puts `bit` in at the bottom. */
function shiftIn(polynomial: Int32Array, bit: number, words: number): void {
  let carry = bit;
  for (let i = 0; i < words; i++) {
    const word = polynomial[i];
    polynomial[i] = (word << 1) | carry;
    carry = word >>> 31;
  }
}

/** Returns the parity of the number of positions at which both have a one. */
function productParity(a: Int32Array, b: Int32Array, words: number): number {
  let x = 0;
  for (let i = 0; i < words; i++) x ^= a[i] & b[i];
  x ^= x >>> 16;
  x ^= x >>> 8;
  x ^= x >>> 4;
  return (0x6996 >>> (x & 15)) & 1;
}

function addInto(target: Int32Array, addend: Int32Array, words: number): void {
  for (let i = 0; i < words; i++) target[i] ^= addend[i];
}

/**
 * Binary matrix rank test. SP 800-22 Rev. 1a §2.5, §3.5.
 *
 * Are there linear dependencies among substrings? Disjoint pieces of the sequence are read as square
 * matrices over GF(2), and their ranks are compared with those of random matrices.
 */
import {
  assertNumbers,
  assertOptions,
  checkedLater,
  isProbability,
  type Members,
} from '../arguments.ts';
import type { TestDefinition } from '../definition.ts';
import { square } from '../elementary.ts';
import { assertInteger, assertLengthBits, chiSquared, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';

/** §2.5.7: M = Q = 32. */
export const RANK_M = 32;

export const rankTest: TestDefinition = {
  // §2.5.7: at least 38 matrices.
  minimumBits: 38 * RANK_M * RANK_M,
  run: (bits) => rank(bits),
  count: (counts) => {
    const [F_M, F_M1] = counts.ranks();
    return judgeRank(Math.floor(counts.n / square(RANK_M)), F_M, F_M1, RANK_PROBABILITIES);
  },
  parameters: ({ N }) => ({ M: RANK_M, Q: RANK_M, N, pi: RANK_PROBABILITIES }),
};

interface RankOptions {
  readonly M?: number;
  /** Of full rank, of one less, and of less. */
  readonly probabilities?: readonly number[];
}

const OPTIONS: Members<RankOptions> = {
  M: checkedLater,
  probabilities: (name, value) => {
    assertNumbers(name, value, 'three numbers from 0 to 1', isProbability);
    assertInteger(`${name}.length`, value.length, 3, 3);
  },
};

/**
 * Runs the test. `M` is the number of rows and columns (the standard's M = Q), at most 32.
 * `probabilities` are those of rank M, M − 1 and less; by default the exact ones.
 */
export function rank(bits: Uint8Array, options: RankOptions = {}): TestResult {
  assertOptions('options', options, OPTIONS);
  const { M = RANK_M } = options;
  assertInteger('M', M, 2, 32);
  const { probabilities = rankProbabilities(M) } = options;
  assertLengthBits(bits, M * M);

  // Step 1: N = ⌊n / M²⌋ matrices, filled row by row.
  const N = Math.floor(bits.length / (M * M));

  // Steps 2 and 3: F_M matrices have full rank, F_M1 one less.
  let F_M = 0;
  let F_M1 = 0;
  for (let i = 0; i < N; i++) {
    const R = matrixRank(bits, i * M * M, M);
    if (R === M) F_M++;
    else if (R === M - 1) F_M1++;
  }
  return judgeRank(N, F_M, F_M1, probabilities);
}

/** Computes the test from the numbers of matrices, of `N`, with full rank and with one less. */
export function judgeRank(
  N: number,
  F_M: number,
  F_M1: number,
  probabilities: readonly number[],
): TestResult {
  const F_less = N - F_M - F_M1;

  // Step 4: χ² over the three classes.
  const chi2 = chiSquared([F_M, F_M1, F_less], probabilities, N);

  // Step 5: p = e^(−χ²/2), which is igamc(1, χ²/2).
  return { pValues: [igamc(1, chi2 / 2)], statistics: { N, F_M, F_M1, F_less, chi2 } };
}

/**
 * §3.5: a random M × M matrix has rank r with probability
 * 2^(r(2M−r) − M²) Π_{i<r} (1 − 2^(i−M))² / (1 − 2^(i−r)). Returns r = M, r = M − 1, and the rest.
 */
export function rankProbabilities(M: number): [number, number, number] {
  const probability = (r: number): number => {
    let product = 2 ** (r * (2 * M - r) - M * M);
    for (let i = 0; i < r; i++) product *= square(1 - 2 ** (i - M)) / (1 - 2 ** (i - r));
    return product;
  };
  let less = 0;
  for (let r = 0; r <= M - 2; r++) less += probability(r);
  return [probability(M), probability(M - 1), less];
}

/** Those of the 32 × 32 matrices of the suite. */
export const RANK_PROBABILITIES = rankProbabilities(RANK_M);

/**
 * Returns the rank over GF(2) of the M rows of M bits that begin at `start`.
 * Each row is reduced by the rows kept so far, which all have different leading bits. The remainder is
 * independent of them, or zero. (Appendix F.1 eliminates forward and backward instead.)
 */
function matrixRank(bits: Uint8Array, start: number, M: number): number {
  const kept = new Int32Array(M);
  let R = 0;
  for (let row = 0; row < M; row++) {
    let word = 0;
    for (let column = 0; column < M; column++) {
      word = (word << 1) | bits[start + row * M + column];
    }
    while (word !== 0) {
      const leading = 31 - Math.clz32(word);
      if (kept[leading] === 0) {
        kept[leading] = word;
        R++;
        break;
      }
      word ^= kept[leading];
    }
  }
  return R;
}

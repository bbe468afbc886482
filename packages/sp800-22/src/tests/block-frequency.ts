/**
 * Frequency test within a block. SP 800-22 Rev. 1a §2.2, §3.2.
 *
 * Is the share of ones near one half in every block of M bits?
 */
import { assertOptions, checkedLater, type Members } from '../arguments.ts';
import type { TestDefinition } from '../definition.ts';
import { square } from '../elementary.ts';
import { assertInteger, assertLengthBits, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';
import { countOnes } from './frequency.ts';

/** The NIST program's default block length, which meets §2.2.7 only for n < 12,800. */
export const BLOCK_FREQUENCY_M = 128;

/** §2.2.7. */
const MINIMUM_BITS = 100;

/** §2.2.7: M ≥ 20; here, as a power of two. */
const SHORTEST_RECOMMENDED = 32;

/** §2.2.7: returns the smallest power of two with M ≥ 20, M > 0.01 n and N = ⌊n / M⌋ < 100. */
export function recommendedBlockLength(n: number): number {
  let M = SHORTEST_RECOMMENDED;
  while (M <= 0.01 * n) M *= 2;
  return M;
}

export const blockFrequencyTest: TestDefinition = {
  // At least one of the block lengths has a whole block.
  minimumBits: ({ blockFrequencyM }) => Math.max(MINIMUM_BITS, Math.min(...blockFrequencyM)),
  run: (bits, { parameters: { blockFrequencyM } }) =>
    joinBlockFrequencies(blockFrequencyM.map((M) => blockFrequency(bits, { M }))),
  count: (counts, { parameters: { blockFrequencyM } }) =>
    joinBlockFrequencies(
      blockFrequencyM.map((M) =>
        judgeBlockFrequency(Math.floor(counts.n / M), M, counts.sumOfBlocks(M)),
      ),
    ),
  labels: ({ blockFrequencyM: lengths }) =>
    lengths.length > 1 ? lengths.map((M) => `M = ${M}`) : [''],
  parameters: ({ M, N }) => ({ M, N }),
};

interface BlockFrequencyOptions {
  readonly M?: number;
}

const OPTIONS: Members<BlockFrequencyOptions> = { M: checkedLater };

export function blockFrequency(bits: Uint8Array, options: BlockFrequencyOptions = {}): TestResult {
  assertOptions('options', options, OPTIONS);
  const { M = BLOCK_FREQUENCY_M } = options;
  assertInteger('M', M, 1, 2 ** 26);
  assertLengthBits(bits, M);

  // Step 1: N = ⌊n / M⌋ blocks; the bits left over are discarded.
  const N = Math.floor(bits.length / M);

  // Step 2: π_i is the share of ones in block i. Σ (2·ones − M)² = 4M² Σ (π_i − 1/2)² is an integer.
  let sum = 0;
  for (let i = 0; i < N; i++) {
    const ones = countOnes(bits, i * M, (i + 1) * M);
    sum += square(2 * ones - M);
  }
  return judgeBlockFrequency(N, M, sum);
}

/** Joins the results of several block lengths. With one, the statistics stay numbers. */
function joinBlockFrequencies(results: readonly TestResult[]): TestResult {
  if (results.length === 1) return results[0];
  const figures = (symbol: string): number[] =>
    results.map(({ statistics }) => Number(statistics[symbol]));
  return {
    pValues: results.flatMap(({ pValues }) => pValues),
    statistics: { chi2: figures('chi2'), N: figures('N'), M: figures('M') },
  };
}

/** Computes the test from `sum` = Σ (2·ones − M)² over `N` blocks of `M` bits. */
export function judgeBlockFrequency(N: number, M: number, sum: number): TestResult {
  // Step 3: χ² = 4M Σ (π_i − 1/2)².
  const chi2 = sum / M;

  // Step 4: p = igamc(N/2, χ²/2).
  return { pValues: [igamc(N / 2, chi2 / 2)], statistics: { chi2, N, M } };
}

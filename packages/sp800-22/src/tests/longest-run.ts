/**
 * Test for the longest run of ones in a block. SP 800-22 Rev. 1a §2.4, §3.4.
 *
 * Is the longest run of ones within blocks of M bits as long as it should be?
 */

import { assertOptions, checkedLater, type Members, outOfRange, wrongType } from '../arguments.ts';
import { CONSTANTS, type Constants, LONGEST_RUN_ROWS, type LongestRunRow } from '../constants.ts';
import type { TestDefinition } from '../definition.ts';
import { assertBits, assertLengthBits, chiSquared, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';

/** §2.4.2: the shortest sequence in the table. */
const MINIMUM_BITS = 128;

export const longestRunTest: TestDefinition = {
  minimumBits: MINIMUM_BITS,
  run: (bits, { constants }) => longestRun(bits, { constants }),
  count: (counts, { constants }) => {
    const row = longestRunRow(counts.n);
    const nu = counts.longestRuns(row.M, row.shortest, row.longest);
    return judgeLongestRun(row, Math.floor(counts.n / row.M), nu, constants);
  },
  parameters: ({ M, N }, constants) => {
    const row = LONGEST_RUN_ROWS.find((one) => one.M === M);
    return { M, N, ...(row && { pi: row.pi[constants] }) };
  },
};

interface LongestRunOptions {
  readonly M?: number;
  readonly constants?: Constants;
}

const OPTIONS: Members<LongestRunOptions> = { M: checkedLater, constants: CONSTANTS };

/** Runs the test. By default M (8, 128 or 10,000) follows from the length of the sequence (§2.4.2). */
export function longestRun(bits: Uint8Array, options: LongestRunOptions = {}): TestResult {
  assertOptions('options', options, OPTIONS);
  assertBits(bits);
  const { M: chosen, constants = 'exact' } = options;
  const row = longestRunRow(bits.length, chosen);
  const { M, shortest, longest } = row;
  assertLengthBits(bits, M);

  // Step 1: N blocks of M bits.
  const N = Math.floor(bits.length / M);

  // Step 2: ν_i counts the blocks whose longest run falls into class i; the first and the last
  // class are open.
  const nu = new Array<number>(longest - shortest + 1).fill(0);
  for (let i = 0; i < N; i++) {
    const length = longestRunOfOnes(bits, i * M, (i + 1) * M);
    nu[Math.min(Math.max(length, shortest), longest) - shortest]++;
  }

  return judgeLongestRun(row, N, nu, constants);
}

/** Computes the test from the counts ν of the classes of `row` over `N` blocks. */
function judgeLongestRun(
  { M, pi }: LongestRunRow,
  N: number,
  nu: readonly number[],
  constants: Constants,
): TestResult {
  // Step 3: χ² = Σ (ν_i − N π_i)² / (N π_i), with K = number of classes − 1.
  const chi2 = chiSquared(nu, pi[constants], N);
  const K = nu.length - 1;

  // Step 4: p = igamc(K/2, χ²/2).
  return { pValues: [igamc(K / 2, chi2 / 2)], statistics: { M, N, nu, chi2 } };
}

/** §2.4.2: returns the row for a given M, or the first whose minimum length the sequence reaches. */
export function longestRunRow(n: number, chosen?: number): LongestRunRow {
  const row = LONGEST_RUN_ROWS.find((candidate) =>
    chosen === undefined ? n >= candidate.minimumBits : candidate.M === chosen,
  );
  if (row !== undefined) return row;
  if (chosen === undefined) {
    throw new RangeError(`"bits" expected at least ${MINIMUM_BITS} elements, got length=${n}`);
  }
  throw (typeof chosen === 'number' ? outOfRange : wrongType)('M', '8, 128 or 10000', chosen);
}

function longestRunOfOnes(bits: Uint8Array, start: number, end: number): number {
  let longest = 0;
  let run = 0;
  for (let i = start; i < end; i++) {
    run = bits[i] === 1 ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest;
}

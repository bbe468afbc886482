/**
 * Overlapping template matching test. SP 800-22 Rev. 1a §2.8, §3.8.
 *
 * Does the pattern of m ones occur too often or too seldom when matches may overlap?
 */

import {
  assertNumbers,
  assertOptions,
  checkedLater,
  isProbability,
  type Members,
} from '../arguments.ts';
import { CONSTANTS, type Constants, OVERLAPPING_TEMPLATE_PI } from '../constants.ts';
import type { TestDefinition } from '../definition.ts';
import { assertInteger, assertLengthBits, chiSquared, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';

/** §2.8.7: m = 9 or 10; the NIST program's default. */
export const OVERLAPPING_m = 9;

/** §2.8.7: n ≥ 10^6, and N · min π_i > 5. The smallest π_i of all m is 0.0684. */
const MINIMUM_BITS = 1_000_000;
const MINIMUM_BLOCKS = 74;

/** More classes than a table has. */
const MOST_CLASSES = 1_000;

/** §2.8.7: K is near 2λ. */
const K = 5;

/** §2.8.7: returns the block length M with λ = (M − m + 1) / 2^m = 2: 1032 for m = 9. */
function overlappingBlockLength(m: number): number {
  return 2 ** (m + 1) + m - 1;
}

export const overlappingTemplateTest: TestDefinition = {
  minimumBits: ({ overlappingM: m }) =>
    Math.max(MINIMUM_BITS, MINIMUM_BLOCKS * overlappingBlockLength(m)),
  run: (bits, { constants, parameters: { overlappingM: m } }) =>
    overlappingTemplate(bits, { m, constants }),
  count: (counts, { constants, parameters: { overlappingM: m } }) => {
    const M = overlappingBlockLength(m);
    const pi = overlappingProbabilities(m, constants);
    const nu =
      m === OVERLAPPING_m
        ? counts.overlaps()
        : counts.unpacked((bits) => countOverlaps(bits, { m, M, classes: pi.length }));
    return judgeOverlapping(nu, { m, M, N: Math.floor(counts.n / M), pi });
  },
  parameters: ({ m, M, N }, constants) => {
    return { m, M, N, pi: overlappingProbabilities(Number(m), constants) };
  },
};

/** The exact probabilities for other m than 9, once computed. */
const COMPUTED = new Map<number, readonly number[]>();

/**
 * Returns the probabilities of 0, 1, …, 4 and at least 5 matches of m ones in a block of M bits. The approximation of
 * §3.8, which the NIST program computes, depends on λ alone, and so is the same for all m.
 */
export function overlappingProbabilities(m: number, constants: Constants): readonly number[] {
  if (constants === 'nist' || m === OVERLAPPING_m) return OVERLAPPING_TEMPLATE_PI[constants];
  const pi = COMPUTED.get(m) ?? matchProbabilities(m, overlappingBlockLength(m));
  COMPUTED.set(m, pi);
  return pi;
}

/**
 * Returns the exact probabilities, bit by bit: `states[c][r]` is the probability of c matches so far and a final run of
 * r ones, where the last of each stands for more.
 */
export function matchProbabilities(m: number, M: number): number[] {
  const zeros = () => Array.from({ length: K + 1 }, () => new Float64Array(m + 1));
  let states = zeros();
  states[0][0] = 1;
  for (let i = 0; i < M; i++) {
    const next = zeros();
    for (let c = 0; c <= K; c++) {
      for (let r = 0; r <= m; r++) {
        const half = states[c][r] / 2;
        const longer = Math.min(m, r + 1);
        next[c][0] += half;
        next[longer === m ? Math.min(K, c + 1) : c][longer] += half;
      }
    }
    states = next;
  }
  return states.map((runs) => runs.reduce((sum, p) => sum + p));
}

interface OverlappingOptions {
  readonly m?: number;
  readonly M?: number;
  readonly constants?: Constants;
  readonly pi?: readonly number[];
}

const OPTIONS: Members<OverlappingOptions> = {
  m: checkedLater,
  M: checkedLater,
  constants: CONSTANTS,
  pi: (name, value) => {
    assertNumbers(name, value, 'numbers from 0 to 1', isProbability);
    assertInteger(`${name}.length`, value.length, 2, MOST_CLASSES);
  },
};

/**
 * Runs the test. The template B is m ones (§2.8.2). `pi` are the probabilities of 0, 1, …, K − 1 and at
 * least K matches in a block of M bits; they must be given for another M than the default.
 */
export function overlappingTemplate(
  bits: Uint8Array,
  options: OverlappingOptions = {},
): TestResult {
  assertOptions('options', options, OPTIONS);
  const { m = OVERLAPPING_m, constants = 'exact', pi } = options;
  assertInteger('m', m, 1, 31);
  const { M = overlappingBlockLength(m) } = options;
  assertInteger('M', M, m, 2 ** 26);
  if (pi === undefined && M !== overlappingBlockLength(m)) {
    throw new RangeError(
      `"pi" expected class probabilities for m=${m}, M=${M}, got none (M=${overlappingBlockLength(m)} needs none)`,
    );
  }
  const probabilities = pi ?? overlappingProbabilities(m, constants);
  assertLengthBits(bits, M);

  // Step 1: N blocks of M bits.
  const N = Math.floor(bits.length / M);

  // Step 2.
  const nu = countOverlaps(bits, { m, M, classes: probabilities.length });

  return judgeOverlapping(nu, { m, M, N, pi: probabilities });
}

/** Computes the test from the counts ν of the classes over N blocks of M bits. */
function judgeOverlapping(
  nu: readonly number[],
  { m, M, N, pi }: { m: number; M: number; N: number; pi: readonly number[] },
): TestResult {
  // Step 3: λ = (M − m + 1) / 2^m and η = λ/2, from which the text approximates π_i.
  const lambda = (M - m + 1) / 2 ** m;
  const eta = lambda / 2;

  // Step 4: χ² = Σ (ν_i − N π_i)² / (N π_i).
  const chi2 = chiSquared(nu, pi, N);

  // Step 5: p = igamc(K/2, χ²/2). (The example in §2.8.4 omits the second division.)
  return {
    pValues: [igamc((nu.length - 1) / 2, chi2 / 2)],
    statistics: { m, M, N, lambda, eta, nu, chi2 },
  };
}

/** Step 2: returns ν, the number of blocks of M bits by their matches; the last class is open. */
function countOverlaps(
  bits: Uint8Array,
  { m, M, classes }: { m: number; M: number; classes: number },
): number[] {
  const nu = new Array<number>(classes).fill(0);
  for (let start = 0; start + M <= bits.length; start += M) {
    nu[Math.min(classes - 1, countOverlapping(bits, start, start + M, m))]++;
  }
  return nu;
}

/** Counts the windows of m ones in [start, end): the positions where a run of ones is at least m long. */
function countOverlapping(bits: Uint8Array, start: number, end: number, m: number): number {
  let matches = 0;
  let run = 0;
  for (let i = start; i < end; i++) {
    run = bits[i] === 1 ? run + 1 : 0;
    if (run >= m) matches++;
  }
  return matches;
}

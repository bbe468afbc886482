/**
 * Non-overlapping template matching test. SP 800-22 Rev. 1a §2.7, §3.7.
 *
 * Does a given aperiodic pattern of m bits occur too often or too seldom? One p-value per template.
 */

import { assertOptions, checkedLater, type Members, wrongType } from '../arguments.ts';
import type { TestDefinition } from '../definition.ts';
import { square } from '../elementary.ts';
import type { KernelCounts } from '../kernels/counts.ts';
import { assertInteger, assertLengthBits, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';
import { reversed } from './pattern-counts.ts';

/** §2.7.7: m = 9 or 10; the NIST program's default. */
export const NON_OVERLAPPING_M = 9;

/** §2.7.2: N is fixed to 8 blocks. */
const NON_OVERLAPPING_N = 8;

export const nonOverlappingTemplateTest: TestDefinition = {
  // Neither the standard nor its program names a minimum for this test. Our choice: each block is expected to hold a
  // pattern of m bits at least 100 times, n/8 − m + 1 ≥ 100 · 2^m. Then, for m = 9, the corrected smallest of the 148
  // p-values is below 0.01 in 1.1 % of 8,000 random sequences; with 25 times it is in 1.8 %.
  minimumBits: ({ templateM: m }) => NON_OVERLAPPING_N * (100 * 2 ** m + m - 1),
  run: (bits, { parameters: { templateM: m } }) =>
    nonOverlappingTemplate(bits, { m, templates: templatesOf(m) }),
  count: (counts, { parameters: { templateM: m } }) => {
    const N = NON_OVERLAPPING_N;
    const M = Math.floor(counts.n / N);
    const matches = m === NON_OVERLAPPING_M ? counts.templates() : windowsOfBlocks(counts, m, M);
    return judgeNonOverlapping(matches, { m, M, N, patterns: reversedTemplates(m) });
  },
  labels: ({ templateM }) => templatesOf(templateM),
  parameters: ({ m, M, N }) => ({ m, M, N }),
};

interface NonOverlappingOptions {
  readonly m?: number;
  readonly N?: number;
  readonly templates?: readonly string[];
}

const OPTIONS: Members<NonOverlappingOptions> = {
  m: checkedLater,
  N: checkedLater,
  templates: checkedLater,
};

/**
 * Runs the test. `templates` are strings of m zeros and ones; the default is every aperiodic template of
 * m bits in ascending order (148 for m = 9). `statistics.W` has one row of N counts per template, the
 * rows joined.
 */
export function nonOverlappingTemplate(
  bits: Uint8Array,
  options: NonOverlappingOptions = {},
): TestResult {
  assertOptions('options', options, OPTIONS);
  const { m = NON_OVERLAPPING_M, N = NON_OVERLAPPING_N } = options;
  assertInteger('m', m, 2, 21);
  assertInteger('N', N, 1, 2 ** 26);
  const { templates = aperiodicTemplates(m) } = options;
  if (!Array.isArray(templates)) throw wrongType('templates', 'an array of strings', templates);
  for (const template of templates as readonly string[]) assertTemplate(template, m);

  // Step 1: N blocks of M bits.
  assertLengthBits(bits, N * m);
  const M = Math.floor(bits.length / N);

  // Step 2: W_j, the matches in block j, for all templates in one pass.
  const counts = countMatches(bits, m, M, N);

  const patterns = templates.map((template) => Number.parseInt(template, 2));
  return judgeNonOverlapping(counts, { m, M, N, patterns });
}

/**
 * Computes the test from the matches in each of N blocks of M bits. `patterns` are the indices of the
 * templates among a block's 2^m counts.
 */
function judgeNonOverlapping(
  counts: Uint32Array,
  { m, M, N, patterns }: { m: number; M: number; N: number; patterns: readonly number[] },
): TestResult {
  // Step 3: mean μ and variance σ² of W_j for a random sequence.
  const mu = (M - m + 1) / 2 ** m;
  const sigma2 = M * (1 / 2 ** m - (2 * m - 1) / 2 ** (2 * m));

  // Steps 4 and 5, per template: χ² = Σ (W_j − μ)² / σ², p = igamc(N/2, χ²/2).
  const W: number[] = [];
  const chi2: number[] = [];
  for (const B of patterns) {
    let sum = 0;
    for (let j = 0; j < N; j++) {
      const W_j = counts[j * 2 ** m + B];
      W.push(W_j);
      sum += square(W_j - mu) / sigma2;
    }
    chi2.push(sum);
  }
  const pValues = chi2.map((value) => igamc(N / 2, value / 2));
  return { pValues, statistics: { M, N, m, mu, sigma2, W, chi2 } };
}

/**
 * §2.7.4 (2): the window moves one bit; on a match it jumps m bits, past the match. Here every pattern B
 * has its own window, and all move together: B is counted at position i unless an earlier match of B
 * overlaps it. Index of the result: block · 2^m + B.
 */
function countMatches(bits: Uint8Array, m: number, M: number, N: number): Uint32Array {
  const patterns = 2 ** m;
  const counts = new Uint32Array(N * patterns);
  const freeFrom = new Uint32Array(patterns);
  for (let j = 0; j < N; j++) {
    const start = j * M;
    freeFrom.fill(0);
    let window = 0;
    for (let i = start; i < start + M; i++) {
      window = ((window << 1) | bits[i]) & (patterns - 1);
      const begin = i - m + 1;
      if (begin >= start && begin >= freeFrom[window]) {
        counts[j * patterns + window]++;
        freeFrom[window] = begin + m;
      }
    }
  }
  return counts;
}

/** Returns the counts of all windows of m bits of each block. For an aperiodic template they are its matches. */
function windowsOfBlocks(counts: KernelCounts, m: number, M: number): Uint32Array {
  const all = new Uint32Array(NON_OVERLAPPING_N * 2 ** m);
  for (let block = 0; block < NON_OVERLAPPING_N; block++) {
    all.set(counts.windows(block * M, M - m + 1, m), block * 2 ** m);
  }
  return all;
}

/** §2.7.2: returns all templates of m bits that cannot overlap themselves when shifted, ascending. */
export function aperiodicTemplates(m: number): string[] {
  assertInteger('m', m, 2, 21);
  const templates: string[] = [];
  for (let value = 0; value < 2 ** m; value++) {
    if (isAperiodic(value, m)) templates.push(value.toString(2).padStart(m, '0'));
  }
  return templates;
}

/** The lists of `templatesOf`, which take a millisecond to find for nine bits. */
const TEMPLATES = new Map<number, readonly string[]>();

/** Returns the same as `aperiodicTemplates`, found once. */
function templatesOf(m: number): readonly string[] {
  const templates = TEMPLATES.get(m) ?? aperiodicTemplates(m);
  TEMPLATES.set(m, templates);
  return templates;
}

/** Returns the templates in the kernels' order: their first bit is the lowest. */
function reversedTemplates(m: number): readonly number[] {
  const known = REVERSED_TEMPLATES.get(m);
  if (known) return known;
  const patterns = templatesOf(m).map((template) => reversed(Number.parseInt(template, 2), m));
  REVERSED_TEMPLATES.set(m, patterns);
  return patterns;
}

const REVERSED_TEMPLATES = new Map<number, readonly number[]>();

/** Reports whether no shift by 1 … m − 1 bits makes the template match itself. */
function isAperiodic(value: number, m: number): boolean {
  for (let shift = 1; shift < m; shift++) {
    const overlap = 2 ** (m - shift) - 1;
    if ((value & overlap) === value >>> shift) return false;
  }
  return true;
}

function assertTemplate(template: string, m: number): void {
  if (typeof template !== 'string') throw wrongType('templates', 'strings', template);
  if (template.length !== m || !/^[01]+$/.test(template)) {
    throw new RangeError(`"templates" expected strings of ${m} zeros and ones, got "${template}"`);
  }
}

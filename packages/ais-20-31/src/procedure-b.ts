/**
 * Test procedure B (KS2011 §2.4.4.2): nine elementary tests for raw noise (das-random numbers), which may be slightly
 * biased and dependent.
 *
 * Each step reads on where the step before it ended. Steps 2 to 4 read disjoint tuples of two, three and four bits until
 * there are 100,000 of each start; they look at the bit that follows the start.
 */
import { assertOptions } from '../../sp800-22/src/arguments.ts';
import { BIT_RANGE, type BitRange, unpack } from './bits.ts';
import {
  type ElementaryTest,
  evaluate,
  type IncompleteRun,
  type ProcedureResult,
  type ProcedureRun,
  runOf,
} from './result.ts';
import { ENTROPY_TEST_BITS, entropyTest } from './tests/entropy.ts';

/** Bits of step 1, and tuples of each start in steps 2 to 4. */
const SAMPLES = 100_000;

/** Bits that the first test takes. */
export const PROCEDURE_B_MINIMUM_BITS: number = SAMPLES;

/** More than nine runs on sound bits, and all that `phm assess-ais31` reads. A run that needs more is unlikely to end. */
const PATIENCE_BITS = 2 ** 26;

/** The χ² law with one degree of freedom exceeds this with probability 0.0001. */
const HOMOGENEITY_BOUND = 15.13;

/**
 * Runs procedure B on packed bits, the most significant of each byte first. It takes about 7 million bits of sound noise,
 * and more of biased noise. Throws `TypeError` on other arguments, and `RangeError` on fewer bits than the first test needs.
 */
export function procedureB(bytes: Uint8Array, range: BitRange = {}): ProcedureResult {
  assertOptions('options', range, BIT_RANGE);
  const bits = unpack(bytes, range, PROCEDURE_B_MINIMUM_BITS);
  try {
    return evaluate('B', (from) => runB(bits.subarray(from)));
  } finally {
    bits.fill(0);
  }
}

function runB(bits: Uint8Array): ProcedureRun {
  if (bits.length < SAMPLES) return runOf([], 0, {});
  const tests: ElementaryTest[] = [uniformity(bits)];
  let used = SAMPLES;
  for (const startBits of [1, 2, 3]) {
    const counted = countFollowers(bits.subarray(used), startBits);
    const { ones, stopped } = counted;
    if (stopped !== null) return runOf(tests, used, incompleteRun(stopped, startBits, used));
    used += counted.bits;
    tests.push(...(startBits === 1 ? [transition(ones)] : homogeneity(ones, startBits)));
  }
  if (bits.length - used < ENTROPY_TEST_BITS) return runOf(tests, used, {});
  tests.push(entropyTest(bits.subarray(used)));
  return runOf(tests, used + ENTROPY_TEST_BITS);
}

/** Step 1, T6 with k = 1, n = 100,000, a = 0.025: the share of ones differs from 1/2 by less than a. */
function uniformity(bits: Uint8Array): ElementaryTest {
  let ones = 0;
  for (let i = 0; i < SAMPLES; i++) ones += bits[i];
  const deviation = Math.abs(ones / SAMPLES - 0.5);
  const statistics = { ones, deviation };
  const limit = 'deviation < 0.025';
  return { name: 'T6', on: 'single bits', statistics, limit, passed: deviation < 0.025 };
}

/**
 * Step 2, T6 with k = 2, n = 100,000, a = 0.02: the share of 1 after 0 and that of 0 after 1 have a sum that differs from
 * 1 by less than a.
 */
function transition([after0, after1]: readonly number[]): ElementaryTest {
  const deviation = Math.abs(after0 - after1) / SAMPLES;
  const statistics = { ones_after_0: after0, ones_after_1: after1, deviation };
  const on = 'the bit after 0 and after 1';
  return { name: 'T6', on, statistics, limit: 'deviation < 0.02', passed: deviation < 0.02 };
}

/**
 * Steps 3 and 4, T7: two starts that differ in their first bit alone are followed by 1 equally often. The statistic is
 * χ² for the homogeneity of two samples.
 */
function homogeneity(ones: readonly number[], startBits: number): ElementaryTest[] {
  const half = 2 ** (startBits - 1);
  return Array.from({ length: half }, (_, rest) => {
    const [first, second] = [ones[rest], ones[half + rest]];
    const difference = first - second;
    const squared = difference * difference;
    const chiSquared = squared / (2 * SAMPLES - first - second) + squared / (first + second);
    const text = rest.toString(2).padStart(startBits - 1, '0');
    return {
      name: 'T7',
      on: `the bit after 0${text} and after 1${text}`,
      statistics: { ones: [first, second], chi_squared: chiSquared },
      limit: 'chi squared ≤ 15.13',
      passed: chiSquared <= HOMOGENEITY_BOUND,
    };
  });
}

/** What a step has read. */
interface Followers {
  /** Ones that follow each start, by its index. */
  readonly ones: readonly number[];
  readonly bits: number;
  /** Null if each start has occurred 100,000 times; otherwise the start that would take longest. */
  readonly stopped: StoppedStep | null;
}

/** A step whose bits ended before each start had occurred 100,000 times. */
interface StoppedStep {
  /** Index of the start that would take longest, and how often it occurred. */
  readonly start: number;
  readonly found: number;
  readonly groups: number;
  /** How often it occurred in the last 100,000 groups, or in all of fewer. */
  readonly recent: number;
  /** Groups that are still missing if the start stays as frequent as there. */
  readonly missing: number;
}

/**
 * Returns where the run stopped and, if more bits of the same kind are unlikely to complete it, says so. The last
 * groups decide, because a source may die midway; fewer than 100,000 tell too little.
 */
function incompleteRun(step: StoppedStep, startBits: number, used: number): IncompleteRun {
  const { groups, found, recent, missing } = step;
  const length = startBits + 1;
  const start = step.start.toString(2).padStart(startBits, '0');
  const stopped = `step ${length} stopped with ${grouped(found)} of ${grouped(SAMPLES)} groups of ${length} bits that begin with ${start}, in ${grouped(groups)} groups`;
  if (groups < SAMPLES || used + (groups + missing) * length <= PATIENCE_BITS) return { stopped };
  const last = `${grouped(recent)} in the last ${grouped(SAMPLES)}`;
  return { stopped, reason: `${stopped} (${last}): more input is unlikely to help` };
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

/**
 * Reads disjoint tuples of `startBits` + 1 bits until each start has occurred 100,000 times, and counts how often a 1
 * follows each start. The first bit of a start is the most significant of its index.
 */
function countFollowers(bits: Uint8Array, startBits: number): Followers {
  const starts = 2 ** startBits;
  const counts = new Array<number>(starts).fill(0);
  const ones = new Array<number>(starts).fill(0);
  let complete = 0;
  let at = 0;
  while (complete < starts) {
    if (at + startBits >= bits.length) {
      return { ones, bits: at, stopped: slowestStart(bits.subarray(0, at), startBits, counts) };
    }
    const start = startAt(bits, at, startBits);
    if (counts[start] < SAMPLES) {
      ones[start] += bits[at + startBits];
      if (++counts[start] === SAMPLES) complete++;
    }
    at += startBits + 1;
  }
  return { ones, bits: at, stopped: null };
}

function startAt(bits: Uint8Array, at: number, startBits: number): number {
  let start = 0;
  for (let i = 0; i < startBits; i++) start = 2 * start + bits[at + i];
  return start;
}

/** Returns the groups in which a start occurs `more` times, if it stays as frequent as in the last ones: `recent` of `last`. */
function missingGroups(more: number, recent: number, last: number): number {
  if (more === 0) return 0;
  // Without a group, nothing tells the starts apart.
  return recent === 0 ? Number.POSITIVE_INFINITY : (more * last) / recent;
}

/** Returns the start that takes longest to occur 100,000 times, by its share of the last tuples. */
function slowestStart(bits: Uint8Array, startBits: number, counts: readonly number[]): StoppedStep {
  const length = startBits + 1;
  const groups = bits.length / length;
  const last = Math.min(groups, SAMPLES);
  const recent = counts.map(() => 0);
  for (let i = groups - last; i < groups; i++) recent[startAt(bits, i * length, startBits)]++;
  const steps = counts.map((found, start) => ({
    start,
    found,
    groups,
    recent: recent[start],
    missing: missingGroups(SAMPLES - found, recent[start], last),
  }));
  const longest = Math.max(...steps.map(({ missing }) => missing));
  const slowest = steps.filter(({ missing }) => missing === longest);
  return slowest.reduce((least, step) => (step.found < least.found ? step : least));
}

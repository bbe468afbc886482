/**
 * The whole suite on one sequence: the tests that apply, their results, and the number that passed.
 *
 * SP 800-22 Rev. 1a, "A Statistical Test Suite for Random and Pseudorandom Number Generators for
 * Cryptographic Applications", https://doi.org/10.6028/NIST.SP.800-22r1a. The parameters, and the order
 * and number of the p-values (188 with all tests), are the NIST program's defaults.
 */
import type { Constants } from './constants.ts';
import { ALPHA, testLevelP } from './pass-rule.ts';
import type { Statistics, TestResult } from './result.ts';
import {
  APPROXIMATE_ENTROPY_MINIMUM_BITS,
  approximateEntropy,
} from './tests/approximate-entropy.ts';
import { BLOCK_FREQUENCY_MINIMUM_BITS, blockFrequency } from './tests/block-frequency.ts';
import { CUMULATIVE_SUMS_MINIMUM_BITS, cumulativeSums } from './tests/cumulative-sums.ts';
import { DFT_MINIMUM_BITS, dft } from './tests/dft.ts';
import { FREQUENCY_MINIMUM_BITS, frequency } from './tests/frequency.ts';
import { LINEAR_COMPLEXITY_MINIMUM_BITS, linearComplexity } from './tests/linear-complexity.ts';
import { LONGEST_RUN_MINIMUM_BITS, longestRun } from './tests/longest-run.ts';
import {
  NON_OVERLAPPING_MINIMUM_BITS,
  nonOverlappingTemplate,
} from './tests/non-overlapping-template.ts';
import { OVERLAPPING_MINIMUM_BITS, overlappingTemplate } from './tests/overlapping-template.ts';
import {
  EXCURSIONS_MINIMUM_BITS,
  EXCURSIONS_MINIMUM_CYCLES,
  randomExcursions,
} from './tests/random-excursions.ts';
import { randomExcursionsVariant } from './tests/random-excursions-variant.ts';
import { RANK_MINIMUM_BITS, rank } from './tests/rank.ts';
import { RUNS_MINIMUM_BITS, runs } from './tests/runs.ts';
import { SERIAL_MINIMUM_BITS, serial } from './tests/serial.ts';
import { UNIVERSAL_MINIMUM_BITS, universal } from './tests/universal.ts';

/** The names of the tests, in the order of the NIST program. */
export const TEST_NAMES = [
  'frequency',
  'block_frequency',
  'cumulative_sums',
  'runs',
  'longest_run',
  'rank',
  'dft',
  'non_overlapping_template',
  'overlapping_template',
  'universal',
  'approximate_entropy',
  'random_excursions',
  'random_excursions_variant',
  'serial',
  'linear_complexity',
] as const;

export type TestName = (typeof TEST_NAMES)[number];

/** The outcome of a test that applies. */
export interface ApplicableOutcome {
  readonly name: TestName;
  readonly applicable: true;
  readonly pValues: readonly number[];
  readonly statistics: Statistics;
  /** True if the smallest p-value, corrected for the number of p-values, is at least `ALPHA`. */
  readonly passed: boolean;
  /** False if `runs` was not carried out because the share of ones is off; its p is then 0. */
  readonly prerequisiteMet: boolean;
}

/** A test that does not apply to this sequence. `reason` is a clause for messages. */
export interface InapplicableOutcome {
  readonly name: TestName;
  readonly applicable: false;
  readonly reason: string;
}

export type TestOutcome = ApplicableOutcome | InapplicableOutcome;

export interface SuiteReport {
  readonly bits: number;
  readonly constants: Constants;
  readonly tests: readonly TestOutcome[];
  readonly testsPassed: number;
  /** The tests that applied. */
  readonly totalTests: number;
}

/** How the suite runs one test. */
interface SuiteRow {
  readonly minimumBits: number;
  readonly run: (bits: Uint8Array, constants: Constants) => TestResult;
  /** Cycles of the random walk (statistic J) that the result needs. */
  readonly minimumCycles?: number;
}

/** One row per test. */
const SUITE: Readonly<Record<TestName, SuiteRow>> = {
  frequency: { minimumBits: FREQUENCY_MINIMUM_BITS, run: frequency },
  block_frequency: {
    minimumBits: BLOCK_FREQUENCY_MINIMUM_BITS,
    run: (bits) => blockFrequency(bits),
  },
  cumulative_sums: {
    minimumBits: CUMULATIVE_SUMS_MINIMUM_BITS,
    run: (bits, constants) => cumulativeSums(bits, { constants }),
  },
  runs: { minimumBits: RUNS_MINIMUM_BITS, run: runs },
  longest_run: {
    minimumBits: LONGEST_RUN_MINIMUM_BITS,
    run: (bits, constants) => longestRun(bits, { constants }),
  },
  rank: { minimumBits: RANK_MINIMUM_BITS, run: (bits) => rank(bits) },
  dft: { minimumBits: DFT_MINIMUM_BITS, run: (bits, constants) => dft(bits, { constants }) },
  non_overlapping_template: {
    minimumBits: NON_OVERLAPPING_MINIMUM_BITS,
    run: (bits) => nonOverlappingTemplate(bits),
  },
  overlapping_template: {
    minimumBits: OVERLAPPING_MINIMUM_BITS,
    run: (bits, constants) => overlappingTemplate(bits, { constants }),
  },
  universal: { minimumBits: UNIVERSAL_MINIMUM_BITS, run: (bits) => universal(bits) },
  approximate_entropy: {
    minimumBits: APPROXIMATE_ENTROPY_MINIMUM_BITS,
    run: (bits) => approximateEntropy(bits),
  },
  random_excursions: {
    minimumBits: EXCURSIONS_MINIMUM_BITS,
    minimumCycles: EXCURSIONS_MINIMUM_CYCLES,
    run: randomExcursions,
  },
  random_excursions_variant: {
    minimumBits: EXCURSIONS_MINIMUM_BITS,
    minimumCycles: EXCURSIONS_MINIMUM_CYCLES,
    run: randomExcursionsVariant,
  },
  serial: { minimumBits: SERIAL_MINIMUM_BITS, run: (bits) => serial(bits) },
  linear_complexity: {
    minimumBits: LINEAR_COMPLEXITY_MINIMUM_BITS,
    run: (bits, constants) => linearComplexity(bits, { constants }),
  },
};

/** Shortest sequence, in bits, to which each test applies. */
export const MINIMUM_BITS: Readonly<Record<TestName, number>> = Object.fromEntries(
  TEST_NAMES.map((name) => [name, SUITE[name].minimumBits]),
) as Record<TestName, number>;

/** Options of a run of the suite. */
export interface SuiteOptions {
  /** Default: `exact`. */
  readonly constants?: Constants;
  /** The tests in the report, always in the order of `TEST_NAMES`. Default: all. */
  readonly only?: readonly TestName[];
}

/**
 * Runs every test that applies to `bits`, which holds one bit (0 or 1) per element.
 * Neither changes nor keeps the input; a caller with secret bits wipes it afterwards.
 * Throws `TypeError` unless `bits` is such a `Uint8Array`, `RangeError` on unknown constants
 * or tests.
 */
export function runSuite(bits: Uint8Array, options: SuiteOptions = {}): SuiteReport {
  assertBits(bits);
  return runTests(bits.length, options, (name, constants) => SUITE[name].run(bits, constants));
}

/** Carries out one test. The sequence is long enough for it. */
export type TestRunner = (name: TestName, constants: Constants) => TestResult;

/** Calls `run` for each test that applies to `n` bits, and returns the report. */
export function runTests(
  n: number,
  { constants = 'exact', only = TEST_NAMES }: SuiteOptions,
  run: TestRunner,
): SuiteReport {
  if (constants !== 'exact' && constants !== 'nist') {
    throw new RangeError(`"constants" expected "exact" or "nist", got ${String(constants)}`);
  }
  for (const name of only) assertTestName(name);
  const selected = TEST_NAMES.filter((name) => only.includes(name));
  const tests = selected.map((name) => runTest(name, n, () => run(name, constants)));
  const applicable = tests.filter((test) => test.applicable);
  return {
    bits: n,
    constants,
    tests,
    testsPassed: applicable.filter((test) => test.passed).length,
    totalTests: applicable.length,
  };
}

function runTest(name: TestName, n: number, run: () => TestResult): TestOutcome {
  const { minimumBits, minimumCycles = 0 } = SUITE[name];
  if (n < minimumBits) {
    const reason = `needs at least ${grouped(minimumBits)} bits, got ${grouped(n)}`;
    return { name, applicable: false, reason };
  }
  const { pValues, statistics } = run();
  const J = Number(statistics.J ?? minimumCycles);
  if (J < minimumCycles) {
    const reason = `too few cycles: J = ${grouped(J)}, needs at least ${minimumCycles}`;
    return { name, applicable: false, reason };
  }
  return {
    name,
    applicable: true,
    pValues,
    statistics,
    passed: testLevelP(pValues) >= ALPHA,
    prerequisiteMet: statistics.prerequisite_met !== false,
  };
}

function assertTestName(name: TestName): void {
  if (!TEST_NAMES.includes(name)) {
    throw new RangeError(`"only" expected names of tests, got ${String(name)}`);
  }
}

function assertBits(bits: Uint8Array): void {
  if (!(bits instanceof Uint8Array)) {
    throw new TypeError(`"bits" expected Uint8Array of 0 and 1, got ${typeof bits}`);
  }
  const index = bits.findIndex((bit) => bit > 1);
  if (index !== -1) {
    throw new TypeError(
      `"bits" expected Uint8Array of 0 and 1, got ${bits[index]} at index ${index}`,
    );
  }
}

const ENGLISH = new Intl.NumberFormat('en-US');

/** Writes 1000000 as 1,000,000. */
function grouped(value: number): string {
  return ENGLISH.format(value);
}

/**
 * The whole suite on one sequence: the tests that apply, their results, and the number that passed.
 *
 * SP 800-22 Rev. 1a, "A Statistical Test Suite for Random and Pseudorandom Number Generators for
 * Cryptographic Applications", https://doi.org/10.6028/NIST.SP.800-22r1a. The order of the p-values is the NIST
 * program's.
 */
import type { Constants } from './constants.ts';
import { grouped } from './grouped.ts';
import { resolveParameters, type SuiteParameters, type TestParameters } from './parameters.ts';
import { ALPHA, testLevelP } from './pass-rule.ts';
import type { Statistics, TestResult } from './result.ts';
import {
  runSupplement,
  runSupplements,
  type SupplementName,
  type SupplementOutcome,
} from './supplements/supplements.ts';
import { approximateEntropy, approximateEntropyMinimumBits } from './tests/approximate-entropy.ts';
import {
  blockFrequency,
  blockFrequencyMinimumBits,
  joinBlockFrequencies,
} from './tests/block-frequency.ts';
import { CUMULATIVE_SUMS_MINIMUM_BITS, cumulativeSums } from './tests/cumulative-sums.ts';
import { DFT_MINIMUM_BITS, dft } from './tests/dft.ts';
import { FREQUENCY_MINIMUM_BITS, frequency } from './tests/frequency.ts';
import { LINEAR_COMPLEXITY_MINIMUM_BITS, linearComplexity } from './tests/linear-complexity.ts';
import { LONGEST_RUN_MINIMUM_BITS, longestRun } from './tests/longest-run.ts';
import {
  nonOverlappingMinimumBits,
  nonOverlappingTemplate,
  templatesOf,
} from './tests/non-overlapping-template.ts';
import { overlappingMinimumBits, overlappingTemplate } from './tests/overlapping-template.ts';
import {
  EXCURSIONS_MINIMUM_BITS,
  EXCURSIONS_MINIMUM_CYCLES,
  randomExcursions,
} from './tests/random-excursions.ts';
import { randomExcursionsVariant } from './tests/random-excursions-variant.ts';
import { RANK_MINIMUM_BITS, rank } from './tests/rank.ts';
import { RUNS_MINIMUM_BITS, runs } from './tests/runs.ts';
import { serial, serialMinimumBits } from './tests/serial.ts';
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

/** The test that each parameter belongs to. */
export const PARAMETER_TESTS: Readonly<Record<keyof TestParameters, TestName>> = {
  blockFrequencyM: 'block_frequency',
  templateM: 'non_overlapping_template',
  overlappingM: 'overlapping_template',
  serialM: 'serial',
  approximateEntropyM: 'approximate_entropy',
  linearComplexityM: 'linear_complexity',
};

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
  /** As given. */
  readonly parameters: TestParameters;
  readonly tests: readonly TestOutcome[];
  readonly testsPassed: number;
  /** The tests that applied. */
  readonly totalTests: number;
  /** Tests that are not part of SP 800-22, if any were requested. They are not counted above. */
  readonly supplements?: readonly SupplementOutcome[];
}

/** What a test needs to know besides the bits. */
export interface TestSettings {
  readonly constants: Constants;
  readonly parameters: SuiteParameters;
}

/** How the suite runs one test. */
interface SuiteRow {
  /** Shortest sequence to which the test applies, if it does not depend on the parameters. */
  readonly minimumBits: number | ((parameters: SuiteParameters) => number);
  readonly run: (bits: Uint8Array, settings: TestSettings) => TestResult;
  /** Cycles of the random walk (statistic J) that the result needs. */
  readonly minimumCycles?: number;
}

/** One row per test. */
const SUITE: Readonly<Record<TestName, SuiteRow>> = {
  frequency: { minimumBits: FREQUENCY_MINIMUM_BITS, run: frequency },
  block_frequency: {
    minimumBits: ({ blockFrequencyM }) => blockFrequencyMinimumBits(blockFrequencyM),
    run: (bits, { parameters }) =>
      joinBlockFrequencies(parameters.blockFrequencyM.map((M) => blockFrequency(bits, { M }))),
  },
  cumulative_sums: { minimumBits: CUMULATIVE_SUMS_MINIMUM_BITS, run: cumulativeSums },
  runs: { minimumBits: RUNS_MINIMUM_BITS, run: runs },
  longest_run: {
    minimumBits: LONGEST_RUN_MINIMUM_BITS,
    run: (bits, { constants }) => longestRun(bits, { constants }),
  },
  rank: { minimumBits: RANK_MINIMUM_BITS, run: (bits) => rank(bits) },
  dft: { minimumBits: DFT_MINIMUM_BITS, run: dft },
  non_overlapping_template: {
    minimumBits: ({ templateM }) => nonOverlappingMinimumBits(templateM),
    run: (bits, { parameters: { templateM: m } }) =>
      nonOverlappingTemplate(bits, { m, templates: templatesOf(m) }),
  },
  overlapping_template: {
    minimumBits: ({ overlappingM }) => overlappingMinimumBits(overlappingM),
    run: (bits, { constants, parameters }) =>
      overlappingTemplate(bits, { m: parameters.overlappingM, constants }),
  },
  universal: { minimumBits: UNIVERSAL_MINIMUM_BITS, run: (bits) => universal(bits) },
  approximate_entropy: {
    minimumBits: ({ approximateEntropyM }) => approximateEntropyMinimumBits(approximateEntropyM),
    run: (bits, { parameters }) => approximateEntropy(bits, { m: parameters.approximateEntropyM }),
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
  serial: {
    minimumBits: ({ serialM }) => serialMinimumBits(serialM),
    run: (bits, { parameters }) => serial(bits, { m: parameters.serialM }),
  },
  linear_complexity: {
    minimumBits: LINEAR_COMPLEXITY_MINIMUM_BITS,
    run: (bits, { constants, parameters }) =>
      linearComplexity(bits, { M: parameters.linearComplexityM, constants }),
  },
};

/** Returns the shortest sequence, in bits, to which a test applies. */
export function minimumBits(name: TestName, parameters: SuiteParameters): number {
  const minimum = SUITE[name].minimumBits;
  return typeof minimum === 'number' ? minimum : minimum(parameters);
}

/** Options of a run of the suite. */
export interface SuiteOptions {
  /** Default: `exact`. */
  readonly constants?: Constants;
  /** The tests in the report, always in the order of `TEST_NAMES`. Default: all. */
  readonly only?: readonly TestName[];
  /** Default: those of the NIST program and a second block length of the frequency test within a block. */
  readonly parameters?: TestParameters;
  /** Tests to run that are not part of SP 800-22. Default: none. */
  readonly supplements?: readonly SupplementName[] | 'all';
}

/**
 * Runs every test that applies to `bits`, which holds one bit (0 or 1) per element.
 * Neither changes nor keeps the input; a caller with secret bits wipes it afterwards.
 * Throws `TypeError` unless `bits` is such a `Uint8Array`, `RangeError` on unknown constants
 * or tests, and on parameters outside their bounds.
 */
export function runSuite(bits: Uint8Array, options: SuiteOptions = {}): SuiteReport {
  assertBits(bits);
  const report = runTests(bits.length, options, (name, settings) =>
    SUITE[name].run(bits, settings),
  );
  return withSupplements(report, options, (name) => runSupplement(name, bits));
}

/** Adds the supplements to a report, if any are requested. `run` computes one of them. */
export function withSupplements(
  report: SuiteReport,
  { supplements = [] }: SuiteOptions,
  run: (name: SupplementName) => TestResult,
): SuiteReport {
  if (supplements.length === 0) return report;
  return { ...report, supplements: runSupplements(report.bits, supplements, run) };
}

/** Carries out one test. The sequence is long enough for it. */
type TestRunner = (name: TestName, settings: TestSettings) => TestResult;

/** Calls `run` for each test that applies to `n` bits, and returns the report. */
export function runTests(
  n: number,
  { constants = 'exact', only = TEST_NAMES, parameters = {} }: SuiteOptions,
  run: TestRunner,
): SuiteReport {
  if (constants !== 'exact' && constants !== 'nist') {
    throw new RangeError(`"constants" expected "exact" or "nist", got ${String(constants)}`);
  }
  for (const name of only) assertTestName(name);
  const selected = TEST_NAMES.filter((name) => only.includes(name));
  const settings = { constants, parameters: resolveParameters(n, parameters) };
  const tests = selected.map((name) => {
    const minimum = minimumBits(name, settings.parameters);
    return runTest(name, n, minimum, () => run(name, settings));
  });
  const applicable = tests.filter((test) => test.applicable);
  return {
    bits: n,
    constants,
    parameters,
    tests,
    testsPassed: applicable.filter((test) => test.passed).length,
    totalTests: applicable.length,
  };
}

function runTest(name: TestName, n: number, minimum: number, run: () => TestResult): TestOutcome {
  const { minimumCycles = 0 } = SUITE[name];
  if (n < minimum) {
    const reason = `needs at least ${grouped(minimum)} bits, got ${grouped(n)}`;
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

/**
 * The whole suite on one sequence: the tests that apply, their results, and the number that passed.
 *
 * SP 800-22 Rev. 1a, "A Statistical Test Suite for Random and Pseudorandom Number Generators for
 * Cryptographic Applications", https://doi.org/10.6028/NIST.SP.800-22r1a. The order of the p-values is the NIST
 * program's.
 */
import {
  assertName,
  assertNames,
  assertNumbers,
  assertObject,
  assertOptions,
  assertRows,
  flag,
  type Members,
} from './arguments.ts';
import { TEST_NAMES, type TestName } from './catalogue.ts';
import { CONSTANTS, type Constants } from './constants.ts';
import type { TestDefinition } from './definition.ts';
import { grouped } from './grouped.ts';
import { type LagCounts, lagCounts } from './lags.ts';
import type { SuiteParameters, TestParameters, TestSettings } from './parameters.ts';
import { ALPHA, testLevelP } from './pass-rule.ts';
import { resolveParameters } from './resolve-parameters.ts';
import { assertBits, type Statistics, type TestResult } from './result.ts';
import { judgeScan, type Scan, type ScanCounts, scanBits } from './source-rule/scan.ts';
import {
  runSupplement,
  runSupplements,
  SUPPLEMENT_NAMES,
  type SupplementName,
  type SupplementOutcome,
} from './supplements/supplements.ts';
import { approximateEntropyTest } from './tests/approximate-entropy.ts';
import { blockFrequencyTest } from './tests/block-frequency.ts';
import { cumulativeSumsTest } from './tests/cumulative-sums.ts';
import { dftTest } from './tests/dft.ts';
import { frequencyTest } from './tests/frequency.ts';
import { linearComplexityTest } from './tests/linear-complexity.ts';
import { longestRunTest } from './tests/longest-run.ts';
import { nonOverlappingTemplateTest } from './tests/non-overlapping-template.ts';
import { overlappingTemplateTest } from './tests/overlapping-template.ts';
import { randomExcursionsTest } from './tests/random-excursions.ts';
import { randomExcursionsVariantTest } from './tests/random-excursions-variant.ts';
import { rankTest } from './tests/rank.ts';
import { runsTest } from './tests/runs.ts';
import { serialTest } from './tests/serial.ts';
import { universalTest } from './tests/universal.ts';

/** How each test runs. */
export const SUITE: Readonly<Record<TestName, TestDefinition>> = {
  frequency: frequencyTest,
  block_frequency: blockFrequencyTest,
  cumulative_sums: cumulativeSumsTest,
  runs: runsTest,
  longest_run: longestRunTest,
  rank: rankTest,
  dft: dftTest,
  non_overlapping_template: nonOverlappingTemplateTest,
  overlapping_template: overlappingTemplateTest,
  universal: universalTest,
  approximate_entropy: approximateEntropyTest,
  random_excursions: randomExcursionsTest,
  random_excursions_variant: randomExcursionsVariantTest,
  serial: serialTest,
  linear_complexity: linearComplexityTest,
};

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
  /** Only if it was requested and the sequence has a window. */
  readonly scan?: Scan;
  /** Only if it was requested and the sequence has a bit. */
  readonly lags?: LagCounts;
}

/** Returns the shortest sequence, in bits, to which a test applies. */
export function minimumBits(name: TestName, parameters: SuiteParameters): number {
  assertName('name', name, TEST_NAMES);
  assertObject('parameters', parameters, ...Object.keys(PARAMETER_TESTS));
  const values = Object.keys(PARAMETER_TESTS).flatMap(
    (one) => parameters[one as keyof SuiteParameters],
  );
  assertNumbers('parameters', values, 'numbers above 0', (value) => value > 0);
  return leastBits(name, parameters);
}

function leastBits(name: TestName, parameters: SuiteParameters): number {
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
  /** Looks for a piece of another source within the sequence. Default: false. */
  readonly scan?: boolean;
  /** Counts the ones, and the pairs that differ at each of `LAGS`, which add up over sequences. Default: false. */
  readonly lags?: boolean;
}

/** What the suite accepts as options. */
export const SUITE_OPTIONS: Members<SuiteOptions> = {
  constants: CONSTANTS,
  only: (name, value) => assertNames(name, value, TEST_NAMES),
  // `resolveParameters` checks the members.
  parameters: assertObject,
  supplements: (name, value) => {
    if (typeof value === 'string') assertName(name, value, ['all']);
    else assertNames(name, value, SUPPLEMENT_NAMES);
  },
  scan: flag,
  lags: flag,
};

/** Throws `TypeError` unless `value` is a report on one sequence. */
export function assertReport(name: string, value: unknown): asserts value is SuiteReport {
  assertObject(name, value, 'bits', 'tests');
  assertRows(`${name}.tests`, (value as SuiteReport).tests, 'name', 'applicable');
}

/**
 * Runs every test that applies to `bits`, which holds one bit (0 or 1) per element.
 * Neither changes nor keeps the input; a caller with secret bits wipes it afterwards.
 * Throws `TypeError` unless `bits` is such a `Uint8Array`, `RangeError` on unknown constants
 * or tests, and on parameters outside their bounds.
 */
export function runSuite(bits: Uint8Array, options: SuiteOptions = {}): SuiteReport {
  assertBits(bits);
  assertOptions('options', options, SUITE_OPTIONS);
  const report = runTests(bits.length, options, (name, settings) =>
    SUITE[name].run(bits, settings),
  );
  const complete = withSupplements(report, options, (name) => runSupplement(name, bits));
  const scanned = withScan(complete, options, () => scanBits(bits));
  return withLags(scanned, options, () => lagCounts(bits));
}

/** Adds the scan to a report, if it is requested. `count` counts for it. */
export function withScan(
  report: SuiteReport,
  { scan = false }: SuiteOptions,
  count: () => ScanCounts,
): SuiteReport {
  const result = scan ? judgeScan(report.bits, count()) : undefined;
  return result ? { ...report, scan: result } : report;
}

/** Adds the counts at short distances to a report, if they are requested. */
export function withLags(
  report: SuiteReport,
  { lags = false }: SuiteOptions,
  count: () => LagCounts,
): SuiteReport {
  return lags && report.bits > 0 ? { ...report, lags: count() } : report;
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
  const selected = TEST_NAMES.filter((name) => only.includes(name));
  const settings = { constants, parameters: resolveParameters(n, parameters) };
  const tests = selected.map((name) => {
    const minimum = leastBits(name, settings.parameters);
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

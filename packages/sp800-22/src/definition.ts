/**
 * How the suite runs a test: each file of tests/ exports a `TestDefinition`, each file of supplements/ a
 * `SupplementDefinition`. The test itself is a pure function of the bits; kernels count for it on packed bits.
 */
import type { Constants } from './constants.ts';
import type { KernelCounts } from './kernels/counts.ts';
import type { SuiteParameters, TestSettings } from './parameters.ts';
import type { Statistics, TestResult } from './result.ts';

export interface TestDefinition {
  /** Shortest sequence to which the test applies. */
  readonly minimumBits: number | ((parameters: SuiteParameters) => number);
  /** Cycles of the random walk (statistic J) that the result needs. */
  readonly minimumCycles?: number;
  readonly run: (bits: Uint8Array, settings: TestSettings) => TestResult;
  /** Returns the same as `run`, from the counts of the kernels. */
  readonly count: (counts: KernelCounts, settings: TestSettings) => TestResult;
  /** The labels of the p-values, in their order, of a test that may have several. One p-value has an empty label. */
  readonly labels?: (parameters: SuiteParameters) => readonly string[];
  /** Parameters in reports: those among the statistics, and the constants of the comparison. Default: none. */
  readonly parameters?: (statistics: Statistics, constants: Constants) => Statistics;
}

export interface SupplementDefinition {
  /** Shortest sequence to which the supplement applies. */
  readonly minimumBits: number;
  readonly run: (bits: Uint8Array) => TestResult;
  /** Returns the same as `run`, from the counts of the kernels. */
  readonly count: (counts: KernelCounts) => TestResult;
  /**
   * Returns a p-value whose tail holds however far out: for a sound source it is at most x with a probability of at most x,
   * at every x. Left out if none is known.
   */
  readonly bound?: (statistics: Statistics, n: number) => number;
}

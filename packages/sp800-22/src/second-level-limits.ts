/**
 * How many sequences the second level may judge, by test and length of a sequence.
 *
 * The laws of `p-value-laws.ts` are exact for some tests and approximations for others. Enough sequences
 * show any approximation, so a sound source would fail. `MOST_SEQUENCES` has the measured limits of tests
 * without an exact law.
 */
import type { Constants } from './constants.ts';
import { hasLaw, type PValueRow } from './p-value-laws.ts';
import type { SuiteParameters } from './parameters.ts';
import { MOST_SEQUENCES } from './second-level-table.ts';
import { SUPPLEMENT_NAMES } from './supplements/supplements.ts';
import { APPROXIMATE_ENTROPY_M } from './tests/approximate-entropy.ts';
import { BLOCK_FREQUENCY_M } from './tests/block-frequency.ts';
import { LINEAR_COMPLEXITY_M } from './tests/linear-complexity.ts';
import { longestRunRow } from './tests/longest-run.ts';
import { NON_OVERLAPPING_M } from './tests/non-overlapping-template.ts';
import { OVERLAPPING_m } from './tests/overlapping-template.ts';
import { SERIAL_M } from './tests/serial.ts';

interface JudgeableSequences {
  /** Most sequences whose proportion of p ≥ α may be judged. */
  readonly proportion: number;
  /** Most sequences whose p-values may be judged by their classes. */
  readonly uniformity: number;
}

export const UNLIMITED: JudgeableSequences = { proportion: Infinity, uniformity: Infinity };

type Measured = readonly [
  option: Exclude<keyof SuiteParameters, 'blockFrequencyM'>,
  symbol: string,
  value: number,
];

/** The parameter for which the p-values of a test were measured. With another one they have other distributions. */
const MEASURED: Readonly<Record<string, Measured>> = {
  non_overlapping_template: ['templateM', 'm', NON_OVERLAPPING_M],
  overlapping_template: ['overlappingM', 'm', OVERLAPPING_m],
  approximate_entropy: ['approximateEntropyM', 'm', APPROXIMATE_ENTROPY_M],
  serial: ['serialM', 'm', SERIAL_M],
  linear_complexity: ['linearComplexityM', 'M', LINEAR_COMPLEXITY_M],
};

/** Tests with measured limits. */
const LIMITED_TESTS: ReadonlySet<string> = new Set(
  Object.keys(MOST_SEQUENCES).map((key) => key.split(' ')[0] as string),
);

/**
 * Reports whether p-values have a law or measured limits. Those of supplements are uniform. To take others for uniform would fail a
 * sound source after enough sequences.
 */
export function hasKnownDistribution(row: string): boolean {
  return hasLaw(row) || LIMITED_TESTS.has(row) || SUPPLEMENT_NAMES.some((name) => name === row);
}

/** Returns why the distribution of a row's p-values is not known at all, as a clause; `undefined` if it is known. */
export function notMeasured(
  { test }: PValueRow,
  parameters: SuiteParameters,
  constants: Constants,
): string | undefined {
  if (!hasKnownDistribution(test)) return 'the distribution of its p-values is not known';
  const [option, symbol, value] = MEASURED[test] ?? [];
  if (option && parameters[option] !== value) {
    return `the distribution of its p-values is known for ${symbol} = ${value} only, got ${parameters[option]}`;
  }
  // The other constants of the NIST program are too close to the exact ones to matter.
  return test === 'overlapping_template' && constants === 'nist'
    ? 'the distribution of its p-values is known for exact constants only'
    : undefined;
}

/** Returns the limits of a row without an exact law, for sequences of `n` bits. */
export function judgeableSequences(
  row: PValueRow,
  n: number,
  parameters: SuiteParameters,
): JudgeableSequences {
  const entries = MOST_SEQUENCES[limitKey(row, n)] ?? [];
  const length = row.test === 'block_frequency' ? blocksLength(row, n, parameters) : n;
  const entry = entries.filter(([bits]) => bits <= length).at(-1) ?? entries[0];
  return entry ? { proportion: entry[1], uniformity: entry[2] } : UNLIMITED;
}

/**
 * Returns the length of as many blocks of 128 bits, for which the limits were measured: p-values of longer blocks are
 * closer to uniform, those of shorter ones have an exact law.
 */
function blocksLength({ index }: PValueRow, n: number, parameters: SuiteParameters): number {
  return BLOCK_FREQUENCY_M * Math.floor(n / parameters.blockFrequencyM[index - 1]);
}

/**
 * Returns the entry of a row: its test, and what else the distribution depends on. For an excursions test this is the
 * distance |x| of the state, for `longest_run` the block length.
 */
export function limitKey({ test, label }: PValueRow, n: number): string {
  if (label.startsWith('x=')) return `${test} ${label.replace(/^x=-?/, '')}`;
  return test === 'longest_run' ? `${test} ${longestRunRow(n).M}` : test;
}

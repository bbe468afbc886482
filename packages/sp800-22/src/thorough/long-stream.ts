/**
 * A long stream: the sequences of an input one after another, up to 2^26 bits. A weak defect adds up over it that sequences
 * of 2^20 bits hide. The results are not part of SP 800-22.
 *
 * Tests of the suite, two supplements and tests of this folder give one p-value each. The spectral test and the supplement
 * on its peaks are left out: their transform needs 0.7 GB at this length.
 */
import { assertUint8Array } from '../arguments.ts';
import { TEST_NAMES, type TestName } from '../catalogue.ts';
import { grouped } from '../grouped.ts';
import { runPackedSuite } from '../packed-suite.ts';
import type { Statistics, TestResult } from '../result.ts';
import { sequencePValues } from '../source-rule/sequence-p-values.ts';
import type { SupplementName } from '../supplements/supplements.ts';
import { isOfGate } from '../verdict.ts';
import { birthdaySpacings } from './birthday-spacings.ts';
import { blockBalance } from './block-balance.ts';
import { planeComplexity } from './plane-complexity.ts';
import { tapParity } from './tap-parity.ts';
import { windowParity } from './window-parity.ts';
import { wordGaps } from './word-gaps.ts';

interface ThoroughTest {
  readonly detects: string;
  /** Whether P(p ≤ x) ≤ x for a sound source at every x. The file of the test has the proof. */
  readonly superUniform: boolean;
  readonly run: (bytes: Uint8Array) => TestResult;
}

/** The tests that only long streams get, in the order of reports. */
export const THOROUGH_TESTS = {
  window_parity: {
    detects: 'bits that depend on up to 15 earlier ones, in the stream or in a bit plane',
    superUniform: true,
    run: (bytes) => windowParity(bytes),
  },
  tap_parity: {
    detects: 'words made of two earlier ones, up to 640 words back',
    superUniform: true,
    run: (bytes) => tapParity(bytes),
  },
  plane_complexity: {
    detects: 'feedback registers of up to 32,000 bits',
    superUniform: true,
    run: planeComplexity,
  },
  word_gaps: {
    detects: 'words of 16 bits that come again after a certain number of words',
    superUniform: true,
    run: wordGaps,
  },
  block_balance: {
    detects: 'a share of ones that drifts, or is too even, in the stream or in a bit plane',
    superUniform: true,
    run: blockBalance,
  },
  birthday_spacings: {
    detects: 'lattices of congruential generators, and repeated words',
    superUniform: false,
    run: birthdaySpacings,
  },
} as const satisfies Readonly<Record<string, ThoroughTest>>;

type ThoroughName = keyof typeof THOROUGH_TESTS;

const THOROUGH_NAMES: readonly ThoroughName[] = Object.keys(THOROUGH_TESTS) as ThoroughName[];

const SUITE_TESTS: readonly TestName[] = TEST_NAMES.filter(
  (name) => isOfGate(name) && name !== 'dft',
);
const SUPPLEMENTS: readonly SupplementName[] = ['autocorrelation', 'byte_distribution'];

export type LongStreamName = TestName | SupplementName | ThoroughName;

export interface LongStreamReport {
  readonly bits: number;
  readonly results: readonly LongStreamResult[];
}

export interface LongStreamResult {
  readonly name: LongStreamName;
  /** One p-value, corrected for their number where the test has several. */
  readonly p: number;
  /** Where the largest deviation is; only of the tests that long streams alone get. */
  readonly statistics?: Statistics;
}

/** Every test applies from here on. */
export const LONG_STREAM_MINIMUM_BITS = 2 ** 20;

/** Memory of a thread stays below 100 MB, and sums of the kernels are exact. */
export const LONG_STREAM_MAXIMUM_BITS = 2 ** 26;

/** Runs all tests on the stream. Throws `RangeError` unless it has 2^20 to 2^26 bits. */
export function runLongStream(bytes: Uint8Array): LongStreamReport {
  assertUint8Array('bytes', bytes);
  const bits = 8 * bytes.length;
  if (bits < LONG_STREAM_MINIMUM_BITS || bits > LONG_STREAM_MAXIMUM_BITS) {
    throw new RangeError(
      `"bytes" expected ${grouped(LONG_STREAM_MINIMUM_BITS)} to ${grouped(LONG_STREAM_MAXIMUM_BITS)} bits, got ${grouped(bits)}`,
    );
  }
  const report = runPackedSuite(bytes, { only: SUITE_TESTS, supplements: SUPPLEMENTS });
  return {
    bits,
    results: [
      ...sequencePValues(report).map(({ test, p }) => ({ name: test, p })),
      ...(report.supplements ?? []).flatMap((one) =>
        one.applicable ? [{ name: one.name, p: one.pValues[0] }] : [],
      ),
      ...THOROUGH_NAMES.map((name) => {
        const { pValues, statistics } = THOROUGH_TESTS[name].run(bytes);
        return { name, p: pValues[0], statistics };
      }),
    ],
  };
}

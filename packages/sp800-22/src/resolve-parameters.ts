/**
 * Defaults and bounds of the parameters. The bounds are of the standard or of this suite.
 *
 * The defaults are those of the NIST program, with one addition: the frequency test within a block also has a row
 * with the block length that §2.2.7 recommends.
 */
import {
  assertInteger,
  assertOptions,
  checkedLater,
  type Members,
  outOfRange,
  wrongType,
} from './arguments.ts';
import type { BlockLength, SuiteParameters, TestParameters } from './parameters.ts';
import { APPROXIMATE_ENTROPY_M } from './tests/approximate-entropy.ts';
import { BLOCK_FREQUENCY_M, recommendedBlockLength } from './tests/block-frequency.ts';
import { LINEAR_COMPLEXITY_M } from './tests/linear-complexity.ts';
import { NON_OVERLAPPING_M } from './tests/non-overlapping-template.ts';
import { OVERLAPPING_m } from './tests/overlapping-template.ts';
import { SERIAL_M } from './tests/serial.ts';

type Single = Exclude<keyof SuiteParameters, 'blockFrequencyM'>;

/** Who sets the bounds, the bounds that do not depend on n, and the default. */
const SINGLE: Readonly<Record<Single, readonly [source: string, ...bounds: number[]]>> = {
  // The program has templates of up to 21 bits. Above 16, no sequence of 2^26 bits is long enough.
  templateM: [
    'bounds of this suite; SP 800-22 §2.7.7 has templates of 2 to 10 bits',
    2,
    16,
    NON_OVERLAPPING_M,
  ],
  // m should be near log2 of the block length, which is above 2^(m + 1).
  overlappingM: ['bounds of this suite; SP 800-22 §2.8.7 recommends 9 or 10', 2, 16, OVERLAPPING_m],
  // The upper bounds are those of our counters.
  serialM: ['bounds of this suite; SP 800-22 §2.11.7 has m < ⌊log2 n⌋ − 2', 2, 24, SERIAL_M],
  approximateEntropyM: [
    'bounds of this suite; SP 800-22 §2.12.7 has m < ⌊log2 n⌋ − 5',
    1,
    20,
    APPROXIMATE_ENTROPY_M,
  ],
  linearComplexityM: ['SP 800-22 §2.10.7', 500, 5000, LINEAR_COMPLEXITY_M],
};

/** The values are checked with their bounds. */
const PARAMETERS: Members<TestParameters> = {
  blockFrequencyM: checkedLater,
  templateM: checkedLater,
  overlappingM: checkedLater,
  serialM: checkedLater,
  approximateEntropyM: checkedLater,
  linearComplexityM: checkedLater,
};

/**
 * Returns the parameters for sequences of `n` bits. Throws `RangeError` on a value outside its bounds, or on an
 * `n` that is not a number of bits. A sequence that is too short for a value is no error: the test does not apply.
 */
export function resolveParameters(n: number, given: TestParameters = {}): SuiteParameters {
  assertInteger('n', n, 0, Number.MAX_SAFE_INTEGER);
  assertOptions('parameters', given, PARAMETERS);
  const { blockFrequencyM = ['nist', 'recommended'] } = given;
  return {
    blockFrequencyM: blockLengths(n, blockFrequencyM),
    templateM: single('templateM', given),
    overlappingM: single('overlappingM', given),
    serialM: single('serialM', given),
    approximateEntropyM: single('approximateEntropyM', given),
    linearComplexityM: single('linearComplexityM', given),
  };
}

function single(name: Single, given: TestParameters): number {
  const [source, minimum, maximum, standard] = SINGLE[name];
  const { [name]: value = standard } = given;
  assertInteger(name, value, minimum, maximum, source);
  return value;
}

function blockLengths(n: number, given: BlockLength | readonly BlockLength[]): number[] {
  const lengths = (isList(given) ? Array.from(given) : [given]).map((one) => blockLength(n, one));
  if (lengths.length === 0) {
    throw new RangeError('"blockFrequencyM" expected at least 1 element, got 0');
  }
  const different = [...new Set(lengths)];
  const usable = different.filter((M) => M <= n);
  return usable.length > 0 ? usable : [Math.min(...different)];
}

function isList(given: BlockLength | readonly BlockLength[]): given is readonly BlockLength[] {
  return Array.isArray(given);
}

/** §2.2.7: M ≥ 20, M > 0.01 n and N = ⌊n / M⌋ < 100, which follows from the second. */
function blockLength(n: number, given: BlockLength): number {
  if (given === 'nist') return BLOCK_FREQUENCY_M;
  if (given === 'recommended') return recommendedBlockLength(n);
  const isLong = given > 0.01 * n;
  if (Number.isInteger(given) && given >= 20 && isLong) return given;
  // Without a length, M ≥ 20 is all that can be checked.
  const ofLength = isLong ? '' : `, M > 0.01 n = ${0.01 * n}`;
  const expected = `"nist", "recommended" or an integer M ≥ 20${ofLength} (SP 800-22 §2.2.7)`;
  const isOfType = typeof given === 'number' || typeof given === 'string';
  throw (isOfType ? outOfRange : wrongType)('blockFrequencyM', expected, given);
}

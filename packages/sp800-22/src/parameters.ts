/**
 * The parameters that SP 800-22 leaves open: options, defaults, and bounds of the standard or of this suite.
 *
 * The defaults are those of the NIST program, with one addition: the frequency test within a block also has a row
 * with the block length that §2.2.7 recommends.
 */
import { assertInteger } from './result.ts';
import { APPROXIMATE_ENTROPY_M } from './tests/approximate-entropy.ts';
import { BLOCK_FREQUENCY_M, recommendedBlockLength } from './tests/block-frequency.ts';
import { LINEAR_COMPLEXITY_M } from './tests/linear-complexity.ts';
import { NON_OVERLAPPING_M } from './tests/non-overlapping-template.ts';
import { OVERLAPPING_m } from './tests/overlapping-template.ts';
import { SERIAL_M } from './tests/serial.ts';

/** A block length M of §2.2, or a name for it: what §2.2.7 recommends, or the NIST program's 128. */
export type BlockLength = number | 'recommended' | 'nist';

/** Parameters as a caller gives them. Each left out has its default. */
export interface TestParameters {
  /** M of the frequency test within a block (§2.2), one row for each. Default: `['nist', 'recommended']`. */
  readonly blockFrequencyM?: BlockLength | readonly BlockLength[];
  /** m of the non-overlapping templates (§2.7). Default: 9. */
  readonly templateM?: number;
  /** m of the overlapping template (§2.8); its block length follows. Default: 9. */
  readonly overlappingM?: number;
  /** m of the serial test (§2.11). Default: 16. */
  readonly serialM?: number;
  /** m of approximate entropy (§2.12). Default: 10. */
  readonly approximateEntropyM?: number;
  /** M of linear complexity (§2.10). Default: 500. */
  readonly linearComplexityM?: number;
}

/** The parameters of a run on sequences of one length. */
export interface SuiteParameters {
  /** Different values of M, none above n unless all are. */
  readonly blockFrequencyM: readonly number[];
  readonly templateM: number;
  readonly overlappingM: number;
  readonly serialM: number;
  readonly approximateEntropyM: number;
  readonly linearComplexityM: number;
}

/** The defaults of the NIST program, with 188 p-values. */
export const NIST_PARAMETERS: TestParameters = { blockFrequencyM: 'nist' };

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

/**
 * Returns the parameters for sequences of `n` bits. Throws `RangeError` on a value outside its bounds, or on an
 * `n` that is not a number of bits. A sequence that is too short for a value is no error: the test does not apply.
 */
export function resolveParameters(n: number, given: TestParameters = {}): SuiteParameters {
  assertInteger('n', n, 0, Number.MAX_SAFE_INTEGER);
  return {
    blockFrequencyM: blockLengths(n, given.blockFrequencyM ?? ['nist', 'recommended']),
    templateM: single('templateM', given),
    overlappingM: single('overlappingM', given),
    serialM: single('serialM', given),
    approximateEntropyM: single('approximateEntropyM', given),
    linearComplexityM: single('linearComplexityM', given),
  };
}

function single(name: Single, given: TestParameters): number {
  const [source, minimum, maximum, standard] = SINGLE[name];
  const value = given[name] ?? standard;
  assertInteger(name, value, minimum, maximum, source);
  return value;
}

function blockLengths(n: number, given: BlockLength | readonly BlockLength[]): number[] {
  const lengths = [given].flat().map((one) => blockLength(n, one));
  if (lengths.length === 0) {
    throw new RangeError('"blockFrequencyM" expected at least 1 element, got 0');
  }
  const different = [...new Set(lengths)];
  const usable = different.filter((M) => M <= n);
  return usable.length > 0 ? usable : [Math.min(...different)];
}

/** §2.2.7: M ≥ 20, M > 0.01 n and N = ⌊n / M⌋ < 100, which follows from the second. */
function blockLength(n: number, given: BlockLength): number {
  if (given === 'nist') return BLOCK_FREQUENCY_M;
  if (given === 'recommended') return recommendedBlockLength(n);
  const isLong = given > 0.01 * n;
  if (Number.isInteger(given) && given >= 20 && isLong) return given;
  // Without a length, M ≥ 20 is all that can be checked.
  const ofLength = isLong ? '' : `, M > 0.01 n = ${0.01 * n}`;
  throw new RangeError(
    `"blockFrequencyM" expected "nist", "recommended" or an integer M ≥ 20${ofLength} (SP 800-22 §2.2.7), got ${given}`,
  );
}

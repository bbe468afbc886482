/** The parameters that SP 800-22 leaves open, as a caller gives them and as a run has them. */
import type { Constants } from './constants.ts';

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

/** What a test needs to know besides the bits. */
export interface TestSettings {
  readonly constants: Constants;
  readonly parameters: SuiteParameters;
}

/** The defaults of the NIST program, with 188 p-values. */
export const NIST_PARAMETERS: TestParameters = { blockFrequencyM: 'nist' };

/** The restart tests on the IID track: NIST SP 800-90B §3.1.2 and §3.1.4. */

import { assertObject, assertOptions, type Members } from '../../../sp800-22/src/arguments.ts';
import type { NotApplicable } from '../estimators/_estimate.ts';
import {
  type MostCommonValueEstimate,
  mostCommonValueEstimate,
} from '../estimators/most-common-value.ts';
import {
  awardOf,
  RESTART_OPTIONS,
  type RestartAward,
  type RestartOptions,
  readRestarts,
  transpose,
  wipeRestarts,
} from '../estimators/restart.ts';
import {
  entropyOf,
  IID_TEST_OPTIONS,
  type IidProgress,
  type IidTestOptions,
  type IidTests,
  runTests,
} from './track.ts';

export interface IidRestartAssessment extends Omit<RestartAward, 'minEntropyPerSymbol'> {
  /** The most common value estimates. They are equal, because rows and columns hold the same samples. */
  readonly rows: MostCommonValueEstimate | NotApplicable;
  readonly columns: MostCommonValueEstimate | NotApplicable;
  /** §3.1.2: the tests of §5 on the matrix by rows and by columns. */
  readonly rowTests: IidTests;
  readonly columnTests: IidTests;
  /** True if no test contradicts the claim that the samples are IID. */
  readonly isIid: boolean;
  /**
   * min(H_r, H_c, H_I), 0 if a check failed, and `null` if the samples are not IID. §3.1.2 then asks
   * for the other track, and H_I has no basis either. NIST's program computes the figure all the same.
   */
  readonly minEntropyPerSymbol: number | null;
}

export interface IidRestartOptions
  extends Omit<RestartOptions, 'onProgress'>,
    Omit<IidTestOptions, 'onProgress'> {
  readonly onProgress?: (progress: IidProgress, input: 'rows' | 'columns') => void;
}

const OPTIONS: Members<IidRestartOptions> = { ...RESTART_OPTIONS, ...IID_TEST_OPTIONS };

/**
 * Assesses a matrix of 1000 × 1000 samples, one per byte, row by row. Rejects with `RangeError` as
 * `assessRestarts` and `assessIid` do.
 *
 * NIST's program reads the rows again where it should read the columns, so its two results of the
 * permutation tests are both of the rows.
 */
export async function assessIidRestarts(
  matrix: Uint8Array,
  options: IidRestartOptions,
): Promise<IidRestartAssessment> {
  assertObject('options', options, 'initialMinEntropy', 'seed');
  assertOptions('options', options, OPTIONS);
  const { onProgress, ...rest } = options;
  const restarts = readRestarts(matrix, rest);
  const columnSamples = transpose(matrix);
  try {
    const test = (samples: Uint8Array, input: 'rows' | 'columns'): Promise<IidTests> =>
      runTests(samples, { ...rest, onProgress: (progress) => onProgress?.(progress, input) });
    const { symbols, transposed, alphabetSize } = restarts;
    const rows = mostCommonValueEstimate(symbols, alphabetSize);
    const columns = mostCommonValueEstimate(transposed, alphabetSize);
    const rowTests = await test(matrix, 'rows');
    const columnTests = await test(columnSamples, 'columns');
    const award = awardOf(restarts, entropyOf(rows), entropyOf(columns));
    const isIid = rowTests.passed && columnTests.passed;
    const minEntropyPerSymbol = isIid ? award.minEntropyPerSymbol : null;
    return { ...award, rows, columns, rowTests, columnTests, isIid, minEntropyPerSymbol };
  } finally {
    wipeRestarts(restarts);
    columnSamples.fill(0);
  }
}

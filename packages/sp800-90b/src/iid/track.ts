/**
 * The IID track: NIST SP 800-90B §3.1.2 and §3.1.3 with the tests of §5 and the most common value
 * estimate of §6.3.1. https://doi.org/10.6028/NIST.SP.800-90B
 *
 * Where the text leaves a choice, or NIST's program ea_iid departs from it, this code follows the
 * program, except for conditioned output: §3.1.5.2 treats it as a binary string, so its bits are tested. The program tests
 * its symbols, which may be IID while their bits are not.
 */
import {
  assertObject,
  assertOptions,
  assertUint8Array,
  callback,
  flag,
  type Members,
} from '../../../sp800-22/src/arguments.ts';
import type { NotApplicable } from '../estimators/_estimate.ts';
import {
  type MostCommonValueEstimate,
  mostCommonValueEstimate,
} from '../estimators/most-common-value.ts';
import {
  assertSamples,
  BITS_PER_SYMBOL,
  BITSTRING_LIMIT,
  bitsOfGreatest,
  mapDown,
  toBits,
} from '../estimators/non-iid.ts';
import { seededState } from './_shuffle.ts';
import { type ChiSquareResult, goodnessOfFitTest, independenceTest } from './chi-square.ts';
import { type LongestRepeatResult, longestRepeatTest } from './longest-repeat.ts';
import {
  assertRunner,
  type PermutationProgress,
  type PermutationResult,
  type PermutationRunner,
  Permuter,
  runPermutationTests,
} from './permutation-tests.ts';

/** Fewest samples of the IID track: the greatest lag needs 32 groups of eight bits. */
export const IID_MINIMUM_SAMPLES = 1_000;

/** Results of the tests of §5. */
export interface IidTests {
  /** Mean and median of the samples, on which the permutation statistics rest. */
  readonly mean: number;
  readonly median: number;
  readonly independence: ChiSquareResult;
  readonly goodnessOfFit: ChiSquareResult;
  readonly longestRepeat: LongestRepeatResult;
  readonly permutation: PermutationResult;
  /** True if every test passed. Then no test contradicts the claim that the samples are IID. */
  readonly passed: boolean;
}

export interface IidAssessment {
  readonly samples: number;
  readonly bitsPerSymbol: number;
  /** Number of different symbols among the samples. */
  readonly alphabetSize: number;
  /** The most common value estimate on the samples. */
  readonly literal: MostCommonValueEstimate | NotApplicable;
  /** The same on their bits; `null` for samples of one bit or two values. */
  readonly bitstring: MostCommonValueEstimate | NotApplicable | null;
  /** Assessed bits of the bit string; `null` without one. */
  readonly bitstringBits: number | null;
  /** Bits per symbol. */
  readonly hOriginal: number;
  /** Bits per bit. */
  readonly hBitstring: number | null;
  /** §3.1.3: min(H_original, bitsPerSymbol · H_bitstring); `null` if a test failed. */
  readonly minEntropyPerSymbol: number | null;
  /** What the tests ran on: the bit string for conditioned output. */
  readonly tested: 'samples' | 'bit string';
  readonly tests: IidTests;
}

export interface IidProgress {
  readonly test: 'chi_square' | 'longest_repeat' | 'permutation';
  readonly permutation: PermutationProgress;
}

export interface IidTestOptions {
  /** 1 to 32 hexadecimal digits. The same seed makes the same permutations. */
  readonly seed: string;
  /**
   * Returns what makes permutations of the samples, such as a pool of threads; it is closed at the
   * end. The default makes them in this thread, with pauses for events.
   */
  readonly openRunner?: (samples: Uint8Array) => PermutationRunner;
  readonly onProgress?: (progress: IidProgress) => void;
}

export interface IidOptions extends IidTestOptions {
  /** 1 to 8. The default is the width of the greatest sample, as in NIST's program. */
  readonly bitsPerSymbol?: number;
  /** Bits of the bit string; the default is all. */
  readonly bitstringLimit?: number;
  /** The samples are conditioned output: their bits are tested and assessed, and H_bitstring is h' of §3.1.5.2. */
  readonly conditioned?: boolean;
}

/** What the tests accept as options. */
export const IID_TEST_OPTIONS: Members<IidTestOptions> = {
  seed: (_, value) => {
    seededState(value as string);
  },
  openRunner: callback,
  onProgress: callback,
};

const IID_OPTIONS: Members<IidOptions> = {
  ...IID_TEST_OPTIONS,
  bitsPerSymbol: BITS_PER_SYMBOL,
  bitstringLimit: BITSTRING_LIMIT,
  conditioned: flag,
};

/**
 * Assesses samples, one per byte in the low bits. Rejects with `RangeError` if a sample does not fit,
 * if all are equal, or if there are too few or too many. The caller owns `samples`; copies are wiped.
 */
export async function assessIid(samples: Uint8Array, options: IidOptions): Promise<IidAssessment> {
  assertObject('options', options, 'seed');
  assertOptions('options', options, IID_OPTIONS);
  const { bitsPerSymbol = bitsOfGreatest(samples), bitstringLimit, conditioned = false } = options;
  assertSamples(samples, bitsPerSymbol);
  const { symbols, alphabetSize } = mapDown(samples);
  const needsBits = alphabetSize > 2 || conditioned;
  const bits = needsBits ? toBits(samples, bitsPerSymbol, bitstringLimit) : null;
  try {
    const literal = mostCommonValueEstimate(symbols, alphabetSize);
    const bitstring = bits && mostCommonValueEstimate(bits, 2);
    const hOriginal = Math.min(bitsPerSymbol, entropyOf(literal));
    const hBitstring = bitstring && Math.min(1, entropyOf(bitstring));
    // §3.1.5.2: a binary string, for testing purposes.
    const isBits = conditioned && bits !== null;
    const tests = await runTests(isBits ? bits : samples, options);
    const minEntropy = Math.min(hOriginal, bitsPerSymbol * (hBitstring ?? 1));
    return {
      samples: samples.length,
      bitsPerSymbol,
      alphabetSize,
      literal,
      bitstring,
      bitstringBits: bits?.length ?? null,
      hOriginal,
      hBitstring,
      minEntropyPerSymbol: tests.passed ? minEntropy : null,
      tested: isBits ? 'bit string' : 'samples',
      tests,
    };
  } finally {
    symbols.fill(0);
    bits?.fill(0);
  }
}

/** Runs the tests of §5 on samples. Rejects and wipes as `assessIid` does. */
export async function testIid(samples: Uint8Array, options: IidTestOptions): Promise<IidTests> {
  assertObject('options', options, 'seed');
  assertOptions('options', options, IID_TEST_OPTIONS);
  return runTests(samples, options);
}

/** As `testIid`, with options that are checked. */
export async function runTests(
  samples: Uint8Array,
  { seed, openRunner, onProgress }: IidTestOptions,
): Promise<IidTests> {
  assertUint8Array('samples', samples);
  const { symbols, alphabetSize } = mapDown(samples);
  const permuter = new Permuter(samples);
  let runner: PermutationRunner | undefined;
  try {
    assertTestable(samples.length, alphabetSize);
    const report = (test: IidProgress['test'], permutation: PermutationProgress): void =>
      onProgress?.({ test, permutation });
    report('chi_square', { permutations: 0, passed: 0 });
    const independence = independenceTest(symbols, alphabetSize);
    const goodnessOfFit = goodnessOfFitTest(symbols, alphabetSize);
    report('longest_repeat', { permutations: 0, passed: 0 });
    const longestRepeat = longestRepeatTest(symbols, alphabetSize);
    const opened = openRunner ? openRunner(samples) : inThisThread(permuter);
    assertRunner(opened);
    runner = opened;
    const original = permuter.original();
    const permutation = await runPermutationTests(original, runner, seed, (progress) =>
      report('permutation', progress),
    );
    const passed = [independence, goodnessOfFit, longestRepeat, permutation].every(
      (result) => result.passed,
    );
    const { mean, median } = permuter;
    return { mean, median, independence, goodnessOfFit, longestRepeat, permutation, passed };
  } finally {
    await runner?.close();
    symbols.fill(0);
    permuter.wipe();
  }
}

function assertTestable(samples: number, alphabetSize: number): void {
  if (samples < IID_MINIMUM_SAMPLES) {
    throw new RangeError(
      `"samples" expected at least ${IID_MINIMUM_SAMPLES} samples for the IID track, got ${samples}`,
    );
  }
  if (alphabetSize < 2) {
    throw new RangeError('"samples" expected at least two different values, got one');
  }
}

function inThisThread(permuter: Permuter): PermutationRunner {
  return {
    parallel: 1,
    run: (job) => new Promise((resolve) => setTimeout(() => resolve(permuter.run(job)))),
    close: () => Promise.resolve(),
  };
}

/** Returns the estimate, or Infinity without one. */
export function entropyOf(estimate: MostCommonValueEstimate | NotApplicable): number {
  return estimate.applicable ? estimate.minEntropy : Infinity;
}

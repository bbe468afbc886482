/**
 * The suite with kernels: they count, one sequence at a time, and the functions of the plain suite judge.
 * Counts and p-values equal those of `runSuite`. The exception is the p-value of the universal test,
 * because its sum of logarithms is rounded differently (below 1e-9).
 */

import type { PackedSequence } from '../bits.ts';
import { square } from '../elementary.ts';
import type { TestResult } from '../result.ts';
import {
  runTests,
  type SuiteOptions,
  type SuiteReport,
  type TestName,
  type TestSettings,
  withSupplements,
} from '../suite.ts';
import { judgeAutocorrelation, lagsFor } from '../supplements/autocorrelation.ts';
import { judgeByteDistribution } from '../supplements/byte-distribution.ts';
import { judgeSpectralPeak } from '../supplements/spectral-peak.ts';
import type { SupplementName } from '../supplements/supplements.ts';
import { APPROXIMATE_ENTROPY_M, judgeApproximateEntropy } from '../tests/approximate-entropy.ts';
import { joinBlockFrequencies, judgeBlockFrequency } from '../tests/block-frequency.ts';
import { judgeCumulativeSums } from '../tests/cumulative-sums.ts';
import { judgeDft, thresholdSquared } from '../tests/dft.ts';
import { judgeFrequency } from '../tests/frequency.ts';
import { judgeLinearComplexity } from '../tests/linear-complexity.ts';
import { judgeLongestRun, longestRunRow } from '../tests/longest-run.ts';
import {
  judgeNonOverlapping,
  NON_OVERLAPPING_M,
  NON_OVERLAPPING_N,
  templatesOf,
} from '../tests/non-overlapping-template.ts';
import {
  judgeOverlapping,
  OVERLAPPING_m,
  overlappingBlockLength,
  overlappingProbabilities,
} from '../tests/overlapping-template.ts';
import { judgeExcursions } from '../tests/random-excursions.ts';
import { judgeVariant } from '../tests/random-excursions-variant.ts';
import { judgeRank, RANK_M, RANK_PROBABILITIES } from '../tests/rank.ts';
import { judgeRuns } from '../tests/runs.ts';
import { judgeSerial, SERIAL_M, squaresOfPatterns } from '../tests/serial.ts';
import {
  judgeUniversal,
  universalBlockLength,
  universalInitialBlocks,
} from '../tests/universal.ts';
import { KernelCounts, reversed } from './counts.ts';
import { DftKernel } from './dft.ts';
import type { KernelModule } from './module.ts';

type KernelTest = (counts: KernelCounts, settings: TestSettings) => TestResult;

/** For each test, the function that computes it from the counts. */
export const KERNEL_TESTS: Readonly<Record<TestName, KernelTest>> = {
  frequency: ({ n, onesAndRuns }) => judgeFrequency(n, onesAndRuns.ones),
  block_frequency: (counts, { parameters }) => {
    const rows = parameters.blockFrequencyM.map((M) =>
      judgeBlockFrequency(Math.floor(counts.n / M), M, counts.sumOfBlocks(M)),
    );
    return joinBlockFrequencies(rows);
  },
  cumulative_sums: (counts, { constants }) =>
    judgeCumulativeSums(counts.n, counts.walkExtremes(), constants),
  runs: ({ n, onesAndRuns }) => judgeRuns(n, onesAndRuns.ones, onesAndRuns.V_n),
  longest_run: (counts, { constants }) => {
    const row = longestRunRow(counts.n);
    const nu = counts.longestRuns(row.M, row.shortest, row.longest);
    return judgeLongestRun(row, Math.floor(counts.n / row.M), nu, constants);
  },
  rank: (counts) => {
    const [F_M, F_M1] = counts.ranks();
    return judgeRank(Math.floor(counts.n / square(RANK_M)), F_M, F_M1, RANK_PROBABILITIES);
  },
  dft: (counts, { constants }) => {
    const N_1 = counts.peaksBelow(thresholdSquared(counts.n, constants));
    return judgeDft(counts.n, N_1, constants);
  },
  non_overlapping_template: (counts, { parameters: { templateM: m } }) => {
    const N = NON_OVERLAPPING_N;
    const M = Math.floor(counts.n / N);
    const matches = m === NON_OVERLAPPING_M ? counts.templates() : windowsOfBlocks(counts, m, M);
    return judgeNonOverlapping(matches, { m, M, N, patterns: reversedTemplates(m) });
  },
  overlapping_template: (counts, { constants, parameters: { overlappingM: m } }) => {
    const M = overlappingBlockLength(m);
    const pi = overlappingProbabilities(m, constants);
    const nu = m === OVERLAPPING_m ? counts.overlaps() : counts.otherOverlaps(m, M, pi.length);
    return judgeOverlapping(nu, { m, M, N: Math.floor(counts.n / M), pi });
  },
  universal: (counts) => {
    const L = universalBlockLength(counts.n);
    const Q = universalInitialBlocks(L);
    const K = Math.floor(counts.n / L) - Q;
    return judgeUniversal({ L, Q, K, sum: counts.sumOfLogDistances(L, Q, K) });
  },
  approximate_entropy: (counts, { parameters: { approximateEntropyM: m } }) => {
    const nu = m === APPROXIMATE_ENTROPY_M ? counts.patterns.nu11 : counts.ringPatterns(m + 1);
    return judgeApproximateEntropy(counts.n, m, nu);
  },
  random_excursions: ({ excursions }) => judgeExcursions(excursions.J, excursions.nu),
  random_excursions_variant: ({ excursions }) => judgeVariant(excursions.J, excursions.xi),
  serial: (counts, { parameters: { serialM: m } }) => {
    const squares =
      m === SERIAL_M ? counts.patterns.squares : squaresOfPatterns(counts.ringPatterns(m));
    return judgeSerial(counts.n, m, squares);
  },
  linear_complexity: (counts, { constants, parameters: { linearComplexityM: M } }) => {
    const nu = counts.complexities(M);
    return judgeLinearComplexity({ M, N: Math.floor(counts.n / M), nu }, constants);
  },
};

/** For each supplement, the function that computes it from the counts. */
const KERNEL_SUPPLEMENTS: Readonly<Record<SupplementName, (counts: KernelCounts) => TestResult>> = {
  autocorrelation: (counts) =>
    judgeAutocorrelation(counts.n, counts.autocorrelations(lagsFor(counts.n))),
  spectral_peak: (counts) => {
    const { k, squared } = counts.largestPeak(thresholdSquared(counts.n, 'exact'));
    return judgeSpectralPeak(counts.n, k, squared);
  },
  byte_distribution: (counts) => judgeByteDistribution(counts.byteCounts()),
};

/** The templates in the kernels' order: their first bit is the lowest. */
function reversedTemplates(m: number): readonly number[] {
  const known = REVERSED_TEMPLATES.get(m);
  if (known) return known;
  const patterns = templatesOf(m).map((template) => reversed(Number.parseInt(template, 2), m));
  REVERSED_TEMPLATES.set(m, patterns);
  return patterns;
}

const REVERSED_TEMPLATES = new Map<number, readonly number[]>();

/** Returns the counts of all windows of m bits of each block. For an aperiodic template they are its matches. */
function windowsOfBlocks(counts: KernelCounts, m: number, M: number): Uint32Array {
  const all = new Uint32Array(NON_OVERLAPPING_N * 2 ** m);
  for (let block = 0; block < NON_OVERLAPPING_N; block++) {
    all.set(counts.windows(block * M, M - m + 1, m), block * 2 ** m);
  }
  return all;
}

/** The kernels and their memory. */
export class SuiteKernels {
  readonly #module: KernelModule;
  #dft: DftKernel | undefined;

  constructor(module: KernelModule) {
    this.#module = module;
  }

  /** Returns the report on a sequence of at most `KERNEL_MAXIMUM_BITS` bits. Leaves nothing of it in memory. */
  run(sequence: PackedSequence, options: SuiteOptions): SuiteReport {
    const { bytes, n, offsetBits } = sequence;
    this.#module.load(bytes, n, offsetBits);
    try {
      const { supplements = [] } = options;
      const withPeaks = supplements === 'all' || supplements.includes('spectral_peak');
      const counts = new KernelCounts(this.#module, sequence, () => this.#dftFor(n), withPeaks);
      const report = runTests(n, options, (name, settings) => KERNEL_TESTS[name](counts, settings));
      return withSupplements(report, options, (name) => KERNEL_SUPPLEMENTS[name](counts));
    } finally {
      this.#module.wipe(n);
    }
  }

  /** Returns the transform for `n` bits. Keeps its tables until a sequence has another length. */
  #dftFor(n: number): DftKernel | undefined {
    if (!DftKernel.supports(n)) return undefined;
    if (this.#dft?.n !== n) this.#dft = new DftKernel(this.#module, n);
    return this.#dft;
  }
}

/**
 * The suite with kernels: they count, one sequence at a time, and the functions of the plain suite judge.
 * Counts and p-values equal those of `runSuite`. The exception is the p-value of the universal test,
 * because its sum of logarithms is rounded differently (below 1e-9).
 */
import type { PackedSequence } from '../bits.ts';
import { type Constants, OVERLAPPING_TEMPLATE_PI } from '../constants.ts';
import type { TestResult } from '../result.ts';
import { runTests, type SuiteOptions, type SuiteReport, type TestName } from '../suite.ts';
import { APPROXIMATE_ENTROPY_M, judgeApproximateEntropy } from '../tests/approximate-entropy.ts';
import { BLOCK_FREQUENCY_M, judgeBlockFrequency } from '../tests/block-frequency.ts';
import { judgeCumulativeSums } from '../tests/cumulative-sums.ts';
import { judgeDft, thresholdSquared } from '../tests/dft.ts';
import { judgeFrequency } from '../tests/frequency.ts';
import { judgeLinearComplexity, LINEAR_COMPLEXITY_M } from '../tests/linear-complexity.ts';
import { judgeLongestRun, longestRunRow } from '../tests/longest-run.ts';
import {
  aperiodicTemplates,
  judgeNonOverlapping,
  NON_OVERLAPPING_M,
  NON_OVERLAPPING_N,
} from '../tests/non-overlapping-template.ts';
import { judgeOverlapping, OVERLAPPING_M, OVERLAPPING_m } from '../tests/overlapping-template.ts';
import { judgeExcursions } from '../tests/random-excursions.ts';
import { judgeVariant } from '../tests/random-excursions-variant.ts';
import { judgeRank, RANK_M, rankProbabilities } from '../tests/rank.ts';
import { judgeRuns } from '../tests/runs.ts';
import { judgeSerial, SERIAL_M } from '../tests/serial.ts';
import {
  judgeUniversal,
  universalBlockLength,
  universalInitialBlocks,
} from '../tests/universal.ts';
import { KernelCounts } from './counts.ts';
import { DftKernel } from './dft.ts';
import type { KernelModule } from './module.ts';

/** The templates in the kernels' order: their first bit is the lowest. */
const PATTERNS = aperiodicTemplates(NON_OVERLAPPING_M).map((template) =>
  Number.parseInt([...template].reverse().join(''), 2),
);
const RANK_PROBABILITIES = rankProbabilities(RANK_M);

type KernelTest = (counts: KernelCounts, constants: Constants) => TestResult;

/** For each test, the function that computes it from the counts. */
export const KERNEL_TESTS: Readonly<Record<TestName, KernelTest>> = {
  frequency: ({ n, onesAndRuns }) => judgeFrequency(n, onesAndRuns.ones),
  block_frequency: ({ n, onesAndRuns }) =>
    judgeBlockFrequency(Math.floor(n / BLOCK_FREQUENCY_M), BLOCK_FREQUENCY_M, onesAndRuns.blockSum),
  cumulative_sums: (counts, constants) =>
    judgeCumulativeSums(counts.n, counts.walkExtremes(), constants),
  runs: ({ n, onesAndRuns }) => judgeRuns(n, onesAndRuns.ones, onesAndRuns.V_n),
  longest_run: (counts, constants) => {
    const row = longestRunRow(counts.n);
    const nu = counts.longestRuns(row.M, row.shortest, row.longest);
    return judgeLongestRun(row, Math.floor(counts.n / row.M), nu, constants);
  },
  rank: (counts) => {
    const [F_M, F_M1] = counts.ranks();
    return judgeRank(Math.floor(counts.n / RANK_M ** 2), F_M, F_M1, RANK_PROBABILITIES);
  },
  dft: (counts, constants) => {
    const N_1 = counts.peaksBelow(thresholdSquared(counts.n, constants));
    return judgeDft(counts.n, N_1, constants);
  },
  non_overlapping_template: (counts) =>
    judgeNonOverlapping(counts.templates(), {
      m: NON_OVERLAPPING_M,
      M: Math.floor(counts.n / NON_OVERLAPPING_N),
      N: NON_OVERLAPPING_N,
      patterns: PATTERNS,
    }),
  overlapping_template: (counts, constants) =>
    judgeOverlapping(counts.overlaps(), {
      m: OVERLAPPING_m,
      M: OVERLAPPING_M,
      N: Math.floor(counts.n / OVERLAPPING_M),
      pi: OVERLAPPING_TEMPLATE_PI[constants],
    }),
  universal: (counts) => {
    const L = universalBlockLength(counts.n);
    const Q = universalInitialBlocks(L);
    const K = Math.floor(counts.n / L) - Q;
    return judgeUniversal({ L, Q, K, sum: counts.sumOfLogDistances(L, Q, K) });
  },
  approximate_entropy: ({ n, patterns }) =>
    judgeApproximateEntropy(n, APPROXIMATE_ENTROPY_M, patterns.nu11),
  random_excursions: ({ excursions }) => judgeExcursions(excursions.J, excursions.nu),
  random_excursions_variant: ({ excursions }) => judgeVariant(excursions.J, excursions.xi),
  serial: ({ n, patterns }) => judgeSerial(n, SERIAL_M, patterns.squares),
  linear_complexity: (counts, constants) => {
    const N = Math.floor(counts.n / LINEAR_COMPLEXITY_M);
    const nu = counts.complexities();
    return judgeLinearComplexity({ M: LINEAR_COMPLEXITY_M, N, nu }, constants);
  },
};

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
      const counts = new KernelCounts(this.#module, sequence, () => this.#dftFor(n));
      return runTests(n, options, (name, constants) => KERNEL_TESTS[name](counts, constants));
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

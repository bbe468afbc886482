/**
 * The suite with kernels: they count, one sequence at a time, and the functions of the plain suite judge.
 * Counts and p-values equal those of `runSuite`. The exception is the p-value of the universal test,
 * because its sum of logarithms is rounded differently (below 1e-9).
 */

import type { PackedSequence } from '../bits.ts';
import type { TestName } from '../catalogue.ts';
import {
  runTests,
  SUITE,
  type SuiteOptions,
  type SuiteReport,
  withLags,
  withScan,
  withSupplements,
} from '../suite.ts';
import { SUPPLEMENTS } from '../supplements/supplements.ts';
import { KernelCounts } from './counts.ts';
import { DftKernel } from './dft.ts';
import type { KernelModule } from './module.ts';

/** Tests whose kernels use no scratch memory. */
const WITHOUT_SCRATCH: readonly TestName[] = [
  'frequency',
  'block_frequency',
  'cumulative_sums',
  'runs',
  'longest_run',
];

/** Reports whether a run may use scratch memory of the kernels. */
function hasScratch({ only, supplements = [], scan = false }: SuiteOptions): boolean {
  const isLight = only?.every((name) => WITHOUT_SCRATCH.includes(name)) ?? false;
  return !isLight || supplements.length > 0 || scan;
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
      const report = runTests(n, options, (name, settings) => SUITE[name].count(counts, settings));
      const complete = withSupplements(report, options, (name) => SUPPLEMENTS[name].count(counts));
      const scanned = withScan(complete, options, () => counts.scan());
      return withLags(scanned, options, () => counts.lags());
    } finally {
      this.#module.wipe(n, hasScratch(options));
    }
  }

  /** Returns the transform for `n` bits. Keeps its tables until a sequence has another length. */
  #dftFor(n: number): DftKernel | undefined {
    if (!DftKernel.supports(n)) return undefined;
    if (this.#dft?.n !== n) this.#dft = new DftKernel(this.#module, n);
    return this.#dft;
  }
}

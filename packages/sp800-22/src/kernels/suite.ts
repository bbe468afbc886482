/**
 * The suite with kernels: they count, one sequence at a time, and the functions of the plain suite judge.
 * Counts and p-values equal those of `runSuite`. The exception is the p-value of the universal test,
 * because its sum of logarithms is rounded differently (below 1e-9).
 */

import type { PackedSequence } from '../bits.ts';
import { LAGS, type LagCounts } from '../lags.ts';
import {
  runTests,
  SUITE,
  type SuiteOptions,
  type SuiteReport,
  withScan,
  withSupplements,
} from '../suite.ts';
import { SUPPLEMENTS } from '../supplements/supplements.ts';
import { KernelCounts } from './counts.ts';
import { DftKernel } from './dft.ts';
import type { KernelModule } from './module.ts';

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
      return withScan(complete, options, () => counts.scan());
    } finally {
      this.#module.wipe(n);
    }
  }

  /** Counts ones, and the pairs that differ at each lag. Leaves nothing of the sequence in memory. */
  lagCounts({ bytes, n, offsetBits }: PackedSequence): LagCounts {
    this.#module.load(bytes, n, offsetBits);
    try {
      this.#module.exports.countLags(n);
      const [ones, ...differences] = this.#module.u32('LAG_COUNTS', 1 + LAGS.length);
      return { bits: n, ones, differences };
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

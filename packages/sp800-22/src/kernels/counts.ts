/** The kernels' counts of one sequence, in the form that the tests in ../tests/ judge. */
import { type PackedSequence, withUnpacked } from '../bits.ts';
import type { WalkExtremes } from '../tests/cumulative-sums.ts';
import { countPeaksBelow } from '../tests/dft.ts';
import { EXCURSION_STATES } from '../tests/random-excursions.ts';
import { VARIANT_STATES } from '../tests/random-excursions-variant.ts';
import type { DftKernel } from './dft.ts';
import type { KernelModule } from './module.ts';

/** Counts on demand. A kernel that serves several tests runs for the first of them. */
export class KernelCounts {
  readonly n: number;
  readonly #sequence: PackedSequence;
  readonly #dft: () => DftKernel | undefined;
  readonly #kernels: KernelModule;
  #onesAndRuns: OnesAndRuns | undefined;
  #excursions: Excursions | undefined;
  #patterns: Patterns | undefined;

  /**
   * `kernels` MUST hold the sequence, and no kernel may have run on it. `dft` returns the transform for
   * its length, if there is one.
   */
  constructor(kernels: KernelModule, sequence: PackedSequence, dft: () => DftKernel | undefined) {
    this.#kernels = kernels;
    this.#sequence = sequence;
    this.#dft = dft;
    this.n = sequence.n;
  }

  get onesAndRuns(): OnesAndRuns {
    this.#onesAndRuns ??= this.#countOnesAndRuns();
    return this.#onesAndRuns;
  }

  get excursions(): Excursions {
    this.#excursions ??= this.#countExcursions();
    return this.#excursions;
  }

  get patterns(): Patterns {
    this.#patterns ??= this.#countPatterns();
    return this.#patterns;
  }

  walkExtremes(): WalkExtremes {
    this.#kernels.exports.findExtremes(this.n);
    const [S, highest, lowest] = this.#kernels.i32('WALK', 3);
    return { S, highest, lowest };
  }

  /** Returns ν of the classes ≤ shortest, …, ≥ longest. */
  longestRuns(M: number, shortest: number, longest: number): number[] {
    this.#kernels.exports.classifyLongestRuns(this.n, M, shortest, longest);
    return [...this.#kernels.u32('LONGEST_RUNS', longest - shortest + 1)];
  }

  /** Returns the numbers of matrices of full rank, of one less, and of even less. */
  ranks(): number[] {
    this.#kernels.exports.classifyRanks(this.n);
    return [...this.#kernels.u32('RANKS', 3)];
  }

  /** Returns N_1 of §2.6. Lengths and sequences that the kernel does not support take the plain transform. */
  peaksBelow(T2: number): number {
    return (
      this.#dft()?.countBelow(T2) ??
      withUnpacked(this.#sequence, (bits) => countPeaksBelow(bits, T2))
    );
  }

  /** Returns 512 counts for each of eight blocks, by pattern, whose first bit is the lowest. Valid until wiped. */
  templates(): Uint32Array {
    this.#kernels.exports.countTemplates(this.n);
    return this.#kernels.u32('TEMPLATE_COUNTS', 8 * 512);
  }

  overlaps(): number[] {
    this.#kernels.exports.classifyOverlaps(this.n);
    return [...this.#kernels.u32('OVERLAPS', 6)];
  }

  /** Returns the sum over K blocks of L bits after the first Q. */
  sumOfLogDistances(L: number, Q: number, K: number): number {
    this.#kernels.exports.sumLogDistances(L, Q, K);
    return this.#kernels.f64('LOG_SUM', 1)[0];
  }

  complexities(): number[] {
    this.#kernels.exports.countComplexities(this.n);
    return [...this.#kernels.u32('COMPLEXITIES', 7)];
  }

  #countOnesAndRuns(): OnesAndRuns {
    this.#kernels.exports.countOnesAndRuns(this.n);
    const [ones, V_n] = this.#kernels.u32('ONES_AND_RUNS', 2);
    const [blockSum] = this.#kernels.f64('ONES_AND_RUNS', 1, 8);
    return { ones, V_n, blockSum };
  }

  #countExcursions(): Excursions {
    this.#kernels.exports.countExcursions(this.n);
    const [J] = this.#kernels.i32('EXCURSIONS', 1);
    const nu = [...this.#kernels.i32('EXCURSIONS', EXCURSION_STATES.length * 6, 16)];
    const visits = this.#kernels.i32('EXCURSIONS', 19, 16 + 4 * nu.length);
    return { J, nu, xi: VARIANT_STATES.map((x) => visits[x + 9]) };
  }

  #countPatterns(): Patterns {
    this.#kernels.exports.countPatterns(this.n);
    const [squares16, squares15, squares14] = this.#kernels.f64('SQUARES', 3);
    const nu11 = this.#kernels.u32('PATTERN_COUNTS', 2 ** 11);
    return { squares: [squares16, squares15, squares14], nu11 };
  }
}

interface OnesAndRuns {
  readonly ones: number;
  readonly V_n: number;
  /** Σ (2·ones − 128)² over the blocks of 128 bits. */
  readonly blockSum: number;
}

interface Excursions {
  readonly J: number;
  readonly nu: readonly number[];
  readonly xi: readonly number[];
}

interface Patterns {
  /** Σ ν² of the patterns of 16, 15 and 14 bits. */
  readonly squares: readonly [number, number, number];
  /** ν of the patterns of 11 bits. Valid until wiped. */
  readonly nu11: Uint32Array;
}

/** The kernels' counts of one sequence, which the tests in ../tests/ judge. The tests import this file, and it none of them. */
import { type PackedSequence, withUnpacked } from '../bits.ts';
import { LAGS, type LagCounts } from '../lags.ts';
import { MEASURES, type ScanCounts, WINDOW_BITS, windowsByLength } from '../source-rule/scan.ts';
import { countPatterns, reversed } from '../tests/pattern-counts.ts';
import { measurePeaks, type Peak, type Peaks } from '../tests/peaks.ts';
import { correlate, KERNEL_LAGS } from './autocorrelation.ts';
import type { DftKernel } from './dft.ts';
import type { KernelModule } from './module.ts';

/** The k of each count of complexities. The last two stand for all larger and smaller ones, in the extreme classes. */
const K_OF_COUNTS = [0, 1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -4, -5, -6, -7, -8, 9, -10];

/** Blocks of this length are counted together with ones and runs. */
const BLOCK_BITS = 128;

/** The kernel counts cycles with 0, 1, …, 5 visits of each of the states −4 … 4 but 0, and all visits of −9 … 9. */
const CYCLE_COUNTS = 8 * 6;
const FARTHEST = 9;

/** Counts on demand. A kernel that serves several tests runs for the first of them. */
export class KernelCounts {
  readonly n: number;
  readonly #sequence: PackedSequence;
  readonly #dft: () => DftKernel | undefined;
  readonly #kernels: KernelModule;
  #onesAndRuns: OnesAndRuns | undefined;
  #excursions: Excursions | undefined;
  #patterns: Patterns | undefined;
  #peaks: Peaks | undefined;
  readonly #withPeaks: boolean;
  /** True if the kernel's transform has counted the peaks. */
  #dftCounted: boolean | undefined;

  /**
   * `kernels` MUST hold the sequence, and no kernel may have run on it. `dft` returns the transform for
   * its length, if there is one; `withPeaks` makes it look for the largest peak.
   */
  constructor(
    kernels: KernelModule,
    sequence: PackedSequence,
    dft: () => DftKernel | undefined,
    withPeaks = false,
  ) {
    this.#kernels = kernels;
    this.#sequence = sequence;
    this.#dft = dft;
    this.#withPeaks = withPeaks;
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

  /** Returns Σ (2·ones − M)² over the blocks of M bits. */
  sumOfBlocks(M: number): number {
    if (M === BLOCK_BITS) return this.onesAndRuns.blockSum;
    return this.#kernels.exports.sumOfBlocks(this.n, M);
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
    const below = this.#dft()?.countBelow(T2, this.#withPeaks);
    this.#dftCounted = below !== undefined;
    return below ?? this.#plainPeaks(T2).below;
  }

  /** Returns the largest peak, from the same transform. Needs `withPeaks`. */
  largestPeak(T2: number): Peak {
    if (this.#dftCounted === undefined) this.peaksBelow(T2);
    const peak = this.#dftCounted ? this.#dft()?.largest() : undefined;
    return peak ?? this.#plainPeaks(T2).largest;
  }

  #plainPeaks(T2: number): Peaks {
    this.#peaks ??= withUnpacked(this.#sequence, (bits) => measurePeaks(bits, T2));
    return this.#peaks;
  }

  /** Returns the counts of the byte values, whose first bit is the lowest here. */
  byteCounts(): Uint32Array {
    const counts = new Uint32Array(256);
    for (const value of this.#kernels.input(Math.floor(this.n / 8))) counts[value]++;
    return counts;
  }

  /** Returns A(1), A(2), …, or `undefined` for sequences too short for all lags of the kernel. */
  autocorrelations(lags: number): Int32Array | undefined {
    return lags === KERNEL_LAGS ? correlate(this.#kernels, this.n) : undefined;
  }

  /** Returns 512 counts for each of eight blocks, by pattern, whose first bit is the lowest. Valid until wiped. */
  templates(): Uint32Array {
    this.#kernels.exports.countTemplates(this.n);
    return this.#kernels.u32('TEMPLATE_COUNTS', 8 * 512);
  }

  /** Returns the counts of the `windows` of m ≤ 17 bits from bit `first` on, by pattern, whose first bit is the lowest. */
  windows(first: number, windows: number, m: number): Uint32Array {
    this.#kernels.exports.countWindows(this.n, first, windows, m);
    const counts = this.#kernels.u32('WINDOW_COUNTS', 2 ** m);
    const copy = counts.slice();
    // The kernel of patterns starts from zeros in the same place.
    counts.fill(0);
    return copy;
  }

  /** Returns the counts of all patterns of m bits of the ring; the first bit of a pattern is its highest. */
  ringPatterns(m: number): Uint32Array {
    // The kernel has no room for longer ones, which take the readable count.
    if (m > this.#kernels.exports.WINDOW_MAXIMUM.value) {
      return withUnpacked(this.#sequence, (bits) => countPatterns(bits, m));
    }
    const counts = this.windows(0, this.n, m);
    return Uint32Array.from(counts, (_, pattern) => counts[reversed(pattern, m)]);
  }

  /** Returns ν of the classes of §2.8 for the template of nine ones. */
  overlaps(): number[] {
    this.#kernels.exports.classifyOverlaps(this.n);
    return [...this.#kernels.u32('OVERLAPS', 6)];
  }

  /** Returns the sum over K blocks of L bits after the first Q. */
  sumOfLogDistances(L: number, Q: number, K: number): number {
    this.#kernels.exports.sumLogDistances(L, Q, K);
    return this.#kernels.f64('LOG_SUM', 1)[0];
  }

  /**
   * Returns the linear complexities L of the blocks of M bits, with the number of blocks of each. The outermost two stand for
   * all beyond them.
   */
  complexities(M: number): (readonly [L: number, blocks: number])[] {
    this.#kernels.exports.countComplexities(this.n, M);
    const blocks = this.#kernels.u32('COMPLEXITIES', K_OF_COUNTS.length);
    // The kernel counts k = M − 2L.
    return K_OF_COUNTS.map((k, i) => [(M - k) / 2, blocks[i]] as const).filter(([, n]) => n > 0);
  }

  /** Counts ones, and the pairs that differ at each of `LAGS`. */
  lags(): LagCounts {
    const { ones, V_n } = this.onesAndRuns;
    this.#kernels.exports.countLags(this.n);
    const further = this.#kernels.u32('LAG_COUNTS', LAGS.length - 1);
    // A run ends where a bit differs from the next.
    return { bits: this.n, ones, differences: [V_n - 1, ...further] };
  }

  /** Returns what `scanBits` returns. */
  scan(): ScanCounts {
    this.#kernels.exports.scanWindows(this.n);
    const lanes = MEASURES.length;
    const extremes = windowsByLength(this.n).flatMap((_, level) => {
      const bits = WINDOW_BITS * 2 ** level;
      // Previous counts, deviations, places and counts.
      const kept = this.#kernels.u32('SCAN_LEVELS', 4 * lanes, 16 * lanes * level);
      return MEASURES.map(({ step }, measure) => ({
        measure,
        from: (kept[2 * lanes + measure] * bits) / (level === 0 ? 1 : 2),
        bits,
        // Without a deviation the kernel has kept no count.
        count: kept[lanes + measure] === 0 ? bits / step / 2 : kept[3 * lanes + measure],
        trials: bits / step,
      }));
    });
    const totals = [...this.#kernels.u32('SCAN_TOTALS', lanes)];
    return { extremes, totals, bits: Math.floor(this.n / WINDOW_BITS) * WINDOW_BITS };
  }

  /** Gives the sequence to readable code, one bit per element, for what the kernels cannot count. */
  unpacked<T>(use: (bits: Uint8Array) => T): T {
    return withUnpacked(this.#sequence, use);
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
    const nu = [...this.#kernels.i32('EXCURSIONS', CYCLE_COUNTS, 16)];
    const visits = this.#kernels.i32('EXCURSIONS', 2 * FARTHEST + 1, 16 + 4 * CYCLE_COUNTS);
    // State 0 is no state of the test.
    return { J, nu, xi: [...visits].filter((_, i) => i !== FARTHEST) };
  }

  #countPatterns(): Patterns {
    this.#kernels.exports.countPatterns(this.n);
    const [squares16, squares15, squares14] = this.#kernels.f64('SQUARES', 3);
    const nu11 = this.#kernels.u32('PATTERN_COUNTS', 2 ** 11);
    return { squares: [squares16, squares15, squares14], nu11 };
  }
}

/** The last of the partial sums S_k, and the extremes of all of them, including S_0 = 0. */
export interface WalkExtremes {
  readonly S: number;
  readonly highest: number;
  readonly lowest: number;
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

/** Counts N_1 of the discrete Fourier transform test, SP 800-22 Rev. 1a §2.6, with the kernels. */
import { log, square } from '../elementary.ts';
import type { Peak } from '../tests/peaks.ts';
import { binAt, type DftPlan, dftPlan, rotation, writeDftTables } from './dft-tables.ts';
import type { KernelModule } from './module.ts';

/**
 * Limit of |S|², in units of n. No random sequence has a higher peak (e^(−64) per bin). In single precision
 * such a peak would disturb bins near it; without one, no number of the transform exceeds 8√n.
 */
const HIGHEST_PEAK_OVER_N = 64;

/**
 * Distance to T² below which the rounding of the plain suite could decide; its values are within 1e-5 of
 * ours (measured). Such a sequence, one in 20,000, takes the plain transform.
 */
const TIE = 1e-3;

/** Relative difference of two peaks that single precision cannot order. */
const ROUNDING = 1e-4;

/** ln(n/2) minus this, in units of n, is where high peaks begin: a sound sequence has about e^3 = 20 of them. */
const HIGH_PEAKS_LOGARITHM = 3;

/** The transform for one length, on the sequence that `module` holds. */
export class DftKernel {
  readonly n: number;
  readonly #module: KernelModule;
  readonly #plan: DftPlan;

  /** Reports whether there is a transform for sequences of `n` bits. */
  static supports(n: number): boolean {
    return dftPlan(n) !== undefined;
  }

  /** Fills the tables. An older instance MUST NOT use `module` for another length afterwards. */
  constructor(module: KernelModule, n: number) {
    const plan = dftPlan(n);
    if (plan === undefined) throw new RangeError(`"n" expected 1048576 or 1000000, got ${n}`);
    this.n = n;
    this.#module = module;
    this.#plan = plan;
    writeDftTables(module, plan);
  }

  /**
   * Returns N_1, the number of bins 0 … n/2 − 1 with |S_k|² < `T2`, as `measurePeaks` of ../tests/peaks.ts
   * does. Returns `undefined` if the sequence is too regular for single precision. `withPeaks` prepares `largest`.
   */
  countBelow(T2: number, withPeaks = false): number | undefined {
    const { n, band } = this.#plan;
    const peak = withPeaks ? n * (log(n / 2) - HIGH_PEAKS_LOGARITHM) : Infinity;
    this.#module.exports.countPeaks(n, T2 - band, T2 + band, peak);
    let [both, others] = this.#module.u32('PEAKS', 2);
    const [highest] = this.#module.f32('PEAKS', 1, 8);
    const bins = this.#listed();
    if (highest > HIGHEST_PEAK_OVER_N * n || bins === undefined) return undefined;
    for (const k of bins) {
      const squared = this.binSquared(k);
      if (Math.abs(squared - T2) < TIE) return undefined;
      if (squared >= T2) continue;
      if (k % 32 === 0) both++;
      else others++;
    }
    const [S, alternating] = this.#module.i32('PEAKS', 2, 16);
    const zero = square(S) < T2 ? 1 : 0;
    const nyquist = square(alternating) < T2 ? 1 : 0;
    const twice = both - zero - nyquist;
    return twice % 2 === 0 ? others + twice / 2 + zero : undefined;
  }

  /**
   * Returns the largest |S_k|² with 0 < k < n/2, after `countBelow` with `withPeaks` has returned a number. Returns
   * `undefined` if the list does not have it.
   */
  largest(): Peak | undefined {
    const { n } = this.#plan;
    const [length] = this.#module.u32('PEAKS', 1, 24);
    if (length > this.#module.exports.PEAK_LIST_LIMIT.value) return undefined;
    const bins = this.#module.u32('HIGH_PEAKS', 2 * length);
    const values = this.#module.f32('HIGH_PEAKS', 2 * length);
    const peaks = Array.from({ length }, (_, i) => {
      const bin = this.#bin(bins[2 * i]);
      // Bins k and n − k are equal, and either is listed, or both.
      return { k: Math.min(bin, n - bin), v: values[2 * i + 1] };
    }).filter(({ k }) => k !== 0 && 2 * k !== n);
    const highest = Math.max(...peaks.map(({ v }) => v));
    const near = peaks.filter(({ v }) => v >= highest * (1 - ROUNDING));
    const exact = [...new Set(near.map(({ k }) => k))].map((k) => ({
      k,
      squared: this.binSquared(k),
    }));
    return exact.sort((one, other) => other.squared - one.squared || one.k - other.k)[0];
  }

  /** Returns |S_k|² in double precision. */
  binSquared(k: number): number {
    const { n } = this.#plan;
    const rotations = this.#module.f64('BIN_ROTATIONS', 2 * 34);
    for (let j = 0; j <= 32; j++) rotations.set(rotation(k * j, n), 2 * j);
    rotations.set(rotation(k * 32 * Math.floor(n / 32 / 8), n), 2 * 33);
    return this.#module.exports.binSquared(n);
  }

  /** Returns the bin at a place as the kernels list it. */
  #bin(place: number): number {
    return binAt(this.#plan, place >>> 16, (place >>> 2) & 0x3fff, place & 3);
  }

  /** Returns the bins within the band, or `undefined` if there are more than the list holds. */
  #listed(): number[] | undefined {
    const [length] = this.#module.u32('PEAKS', 1, 12);
    if (length > this.#module.exports.PEAK_LIST_LIMIT.value) return undefined;
    return Array.from(this.#module.u32('PEAK_LIST', length), (place) => this.#bin(place));
  }
}

/** The peaks of the spectrum, which the spectral test counts and a supplement judges. */
import { fourierTransform, type Spectrum } from './fourier.ts';

/** The spectrum, as far as tests need it. */
export interface Peaks {
  /** N_1: the number of bins below n/2 with |S_k|² below T². */
  readonly below: number;
  readonly largest: Peak;
}

/** The bin with the largest |S_k|², 0 < k < n/2. */
export interface Peak {
  readonly k: number;
  readonly squared: number;
}

/**
 * Steps 1 to 3 and 6: counts N_1, the peaks whose square is below `T2`, and finds the largest. Leaves no copy of the bits.
 */
export function measurePeaks(bits: Uint8Array, T2: number): Peaks {
  // X_i = 2ε_i − 1, S = DFT(X), M = |S| of the first n/2 bins, including bin 0. (§2.6.4 and §2.6.8 print
  // N_1 = 4 and 46 for sequences that have 5 and 48; otherwise text and program agree.)
  return bits.length % 2 === 0 ? measureEven(bits, T2) : measureOdd(bits, T2);
}

/** Collects `Peaks`, bin by bin. */
class PeakMeter implements Peaks {
  readonly #T2: number;
  readonly largest = { k: 0, squared: 0 };
  below = 0;

  constructor(T2: number) {
    this.#T2 = T2;
  }

  add(k: number, squared: number): void {
    if (squared < this.#T2) this.below++;
    if (k > 0 && squared > this.largest.squared) {
      this.largest.k = k;
      this.largest.squared = squared;
    }
  }
}

/**
 * Measures for even n: the pairs X_2j + i·X_2j+1 give one complex transform Z of half the length, and
 *     S_k = (Z_k + conj Z_{N−k}) / 2 + e^(−2πi k/n) (Z_k − conj Z_{N−k}) / 2i,  N = n/2.
 */
function measureEven(bits: Uint8Array, T2: number): Peaks {
  const N = bits.length / 2;
  const re = new Float64Array(N);
  const im = new Float64Array(N);
  for (let j = 0; j < N; j++) {
    re[j] = 2 * bits[2 * j] - 1;
    im[j] = 2 * bits[2 * j + 1] - 1;
  }
  const Z = fourierTransform(re, im, N);
  const peaks = new PeakMeter(T2);
  for (let k = 0; k < N; k++) {
    const mirror = k === 0 ? 0 : N - k;
    const evenRe = (Z.re[k] + Z.re[mirror]) / 2;
    const evenIm = (Z.im[k] - Z.im[mirror]) / 2;
    const oddRe = (Z.im[k] + Z.im[mirror]) / 2;
    const oddIm = (Z.re[mirror] - Z.re[k]) / 2;
    const angle = (-Math.PI * k) / N;
    const cos = Math.cos(angle);
    const sin = Math.sin(angle);
    const real = evenRe + cos * oddRe - sin * oddIm;
    const imaginary = evenIm + cos * oddIm + sin * oddRe;
    peaks.add(k, real * real + imaginary * imaginary);
  }
  for (const array of [re, im, Z.re, Z.im]) array.fill(0);
  return peaks;
}

/** Measures for odd n, which has no such pairs: one transform of the full length, and half of its bins. */
function measureOdd(bits: Uint8Array, T2: number): Peaks {
  const re = Float64Array.from(bits, (bit) => 2 * bit - 1);
  const bins = (bits.length - 1) / 2;
  const im = new Float64Array(bits.length);
  const S: Spectrum = fourierTransform(re, im, bins);
  const peaks = new PeakMeter(T2);
  for (let k = 0; k < bins; k++) peaks.add(k, S.re[k] * S.re[k] + S.im[k] * S.im[k]);
  for (const array of [re, im, S.re, S.im]) array.fill(0);
  return peaks;
}

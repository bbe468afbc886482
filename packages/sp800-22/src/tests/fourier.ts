/**
 * Discrete Fourier transform of any length, in double precision.
 *
 * A power of two goes through a radix-2 transform. Every other length N is a convolution (Bluestein):
 * with jk = (j² + k² − (k − j)²)/2 and the chirp c_j = e^(−πi j²/N),
 *
 *     Z_k = Σ_j z_j e^(−2πi jk/N) = c_k Σ_j (z_j c_j) · conj(c_{k−j}),
 *
 * which two transforms of a power of two compute. Real and imaginary parts are separate arrays.
 */

import { assertInteger, wrongType } from '../arguments.ts';

/** A transform as two arrays. Elements beyond the requested bins have no meaning. */
export interface Spectrum {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/**
 * Returns the bins k = 0 … `bins` − 1 of the transform of `re + i·im`. For a power of two it overwrites
 * and returns the arguments. Any other length N takes 32 bytes times the power of two ≥ N + bins − 1.
 */
export function fourierTransform(re: Float64Array, im: Float64Array, bins: number): Spectrum {
  assertFloats('re', re, 1);
  assertFloats('im', im, re.length, re.length);
  assertInteger('bins', bins, 1, re.length);
  const N = re.length;
  if ((N & (N - 1)) !== 0) return bluestein(re, im, bins);
  forward(re, im);
  reorder(re, im);
  return { re, im };
}

function assertFloats(name: string, value: unknown, least: number, most = Infinity): void {
  if (!(value instanceof Float64Array)) throw wrongType(name, 'Float64Array', value);
  assertInteger(`${name}.length`, value.length, least, most);
}

function bluestein(re: Float64Array, im: Float64Array, bins: number): Spectrum {
  const N = re.length;
  let size = 1;
  while (size < N + bins - 1) size *= 2;
  const xRe = new Float64Array(size);
  const xIm = new Float64Array(size);
  const kernelRe = new Float64Array(size);
  const kernelIm = new Float64Array(size);

  // conj(c_j) for j = −(N − 1) … bins − 1, negative indices wrapped around; c is even in j.
  forEachChirp(N, N, (j, cos, sin) => {
    if (j < bins) {
      kernelRe[j] = cos;
      kernelIm[j] = sin;
    }
    if (j > 0) {
      kernelRe[size - j] = cos;
      kernelIm[size - j] = sin;
    }
    xRe[j] = re[j] * cos + im[j] * sin;
    xIm[j] = im[j] * cos - re[j] * sin;
  });

  forward(xRe, xIm);
  forward(kernelRe, kernelIm);
  for (let i = 0; i < size; i++) {
    const a = xRe[i] / size;
    const b = xIm[i] / size;
    xRe[i] = a * kernelRe[i] - b * kernelIm[i];
    xIm[i] = a * kernelIm[i] + b * kernelRe[i];
  }
  inverse(xRe, xIm);

  forEachChirp(N, bins, (k, cos, sin) => {
    const a = xRe[k];
    const b = xIm[k];
    xRe[k] = a * cos + b * sin;
    xIm[k] = b * cos - a * sin;
  });
  return { re: xRe, im: xIm };
}

/** Visits cos and sin of πj²/N for j < count. Keeps j² mod 2N as an exact integer. */
function forEachChirp(
  N: number,
  count: number,
  visit: (j: number, cos: number, sin: number) => void,
): void {
  let square = 0;
  for (let j = 0; j < count; j++) {
    const angle = (Math.PI * square) / N;
    visit(j, Math.cos(angle), Math.sin(angle));
    square += 2 * j + 1;
    if (square >= 2 * N) square -= 2 * N;
  }
}

/**
 * Forward transform of a power of two; bin k ends up at the bit-reversed index of k.
 *
 * Read z as a polynomial: z mod (x^2m − w²) splits into z mod (x^m − w) = lo + w·hi and
 * z mod (x^m + w) = lo − w·hi, from x^N − 1 down to the x − e^(−2πi k/N), where the remainder is the
 * value Z_k. Each node of that tree has one w, so the inner loop runs over neighbouring elements.
 */
function forward(re: Float64Array, im: Float64Array): void {
  const N = re.length;
  const w = factorsOf(N);
  for (let m = N / 2; m >= 1; m /= 2) {
    for (let node = 0, start = 0; start < N; node++, start += 2 * m) {
      w.select(node);
      const wRe = w.re;
      const wIm = w.im;
      for (let lo = start, hi = start + m; lo < start + m; lo++, hi++) {
        const a = wRe * re[hi] - wIm * im[hi];
        const b = wRe * im[hi] + wIm * re[hi];
        re[hi] = re[lo] - a;
        im[hi] = im[lo] - b;
        re[lo] += a;
        im[lo] += b;
      }
    }
  }
}

/** Undoes `forward` from its bit-reversed order, without the factor 1/N. */
function inverse(re: Float64Array, im: Float64Array): void {
  const N = re.length;
  const w = factorsOf(N);
  for (let m = 1; m < N; m *= 2) {
    for (let node = 0, start = 0; start < N; node++, start += 2 * m) {
      w.select(node);
      const wRe = w.re;
      const wIm = w.im;
      for (let lo = start, hi = start + m; lo < start + m; lo++, hi++) {
        const a = re[lo] - re[hi];
        const b = im[lo] - im[hi];
        re[lo] += re[hi];
        im[lo] += im[hi];
        re[hi] = wRe * a + wIm * b;
        im[hi] = wRe * b - wIm * a;
      }
    }
  }
}

/** The lower of the two tables of factors has 2^LOW_BITS entries. */
const LOW_BITS = 10;

/**
 * The factor w of each node, the same for every level of the tree: w = e^(−2πi·t), where bit i of
 * the node's number adds 2^−(i+2) to t. As t is a sum over bits, w is the product of one factor for
 * the low bits and one for the high bits; two short tables replace one of N/2 entries.
 */
class NodeFactors {
  re = 1;
  im = 0;
  readonly #low: Spectrum;
  readonly #high: Spectrum;

  constructor(N: number) {
    this.#low = factorTable(2 ** LOW_BITS, 0);
    this.#high = factorTable(Math.ceil(N / 2 / 2 ** LOW_BITS), LOW_BITS);
  }

  select(node: number): void {
    const low = node & (2 ** LOW_BITS - 1);
    const high = node >>> LOW_BITS;
    const a = this.#low.re[low];
    const b = this.#low.im[low];
    const c = this.#high.re[high];
    const d = this.#high.im[high];
    this.re = a * c - b * d;
    this.im = a * d + b * c;
  }
}

/** The factors of the last length, because a run has many transforms of one length. */
let last: { readonly N: number; readonly factors: NodeFactors } | undefined;

function factorsOf(N: number): NodeFactors {
  if (last?.N !== N) last = { N, factors: new NodeFactors(N) };
  return last.factors;
}

/** Returns e^(−2πi·t) for the nodes p · 2^shift, p < length. */
function factorTable(length: number, shift: number): Spectrum {
  const re = new Float64Array(length);
  const im = new Float64Array(length);
  for (let p = 0; p < length; p++) {
    let t = 0;
    for (let i = 0; p >>> i !== 0; i++) t += ((p >>> i) & 1) * 2 ** -(i + shift + 2);
    re[p] = Math.cos(2 * Math.PI * t);
    im[p] = -Math.sin(2 * Math.PI * t);
  }
  return { re, im };
}

/** Exchanges each element with the one at its bit-reversed index. */
function reorder(re: Float64Array, im: Float64Array): void {
  const N = re.length;
  for (let i = 0, j = 0; i < N; i++) {
    if (i < j) {
      [re[i], re[j]] = [re[j], re[i]];
      [im[i], im[j]] = [im[j], im[i]];
    }
    // j counts like i, but from the top bit down.
    let bit = N >>> 1;
    while ((j & bit) !== 0) {
      j ^= bit;
      bit >>>= 1;
    }
    j |= bit;
  }
}

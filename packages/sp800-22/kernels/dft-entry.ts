/**
 * The first six levels of the tree (dft.ts), nearly all additions: from table rows to the remainders
 * of the two jobs of a pair, and of class 16.
 */
import { addProductIm, addProductRe, loadTwo, multiplySubtract } from './dft-complex';
import {
  BYTE_SUMS,
  BYTE_SUMS_SIZE,
  CLASS_16,
  CLASS_16_IMAGINARY,
  CLASS_SUMS,
  PAIR_FACTORS,
  PAIR_FACTORS_SIZE,
  WORDS,
} from './dft-memory';

/** Makes c the current class. */
export function selectClass(c: usize): void {
  memory.copy(CLASS_SUMS, BYTE_SUMS + c * BYTE_SUMS_SIZE, BYTE_SUMS_SIZE);
}

/**
 * Computes the coefficients of both jobs of the pair of classes c, for `count` positions whose offsets
 * are at `source`. Four values a_q = Σ_j x_(i+qm+jn/16) W^(kjn/16), the last two times γ², come from the
 * tables; u = a_0 + γ²a_2 and w = a_1 + γ²a_3 make u + γw (k = c + 4·lane) and −(u − γw) (k + 32).
 */
export function addPairs(
  c: usize,
  source: usize,
  plus: usize,
  minus: usize,
  count: usize,
): void {
  if (c & 1) addOddPairs(c, source, plus, minus, count);
  else addEvenPairs(c, source, plus, minus, count);
}

function addEvenPairs(c: usize, source: usize, plus: usize, minus: usize, count: usize): void {
  addPairsOf(false, c, source, plus, minus, count);
}

function addOddPairs(c: usize, source: usize, plus: usize, minus: usize, count: usize): void {
  addPairsOf(true, c, source, plus, minus, count);
}

@inline
function addPairsOf(
  odd: bool,
  c: usize,
  source: usize,
  plus: usize,
  minus: usize,
  count: usize,
): void {
  const factors = PAIR_FACTORS + c * PAIR_FACTORS_SIZE;
  const gRe = v128.load(factors);
  const gIm = v128.load(factors, 16);
  const two = loadTwo();
  const end = source + (count << 4);
  for (; source < end; source += 16, plus += 32, minus += 32) {
    let low = <usize>load<u16>(source);
    let high = <usize>load<u16>(source, 2);
    let low2 = <usize>load<u16>(source, 8);
    let high2 = <usize>load<u16>(source, 10);
    const uRe = f32x4.add(wordRe(odd, low, high), timesG2Re(odd, low2, high2));
    const uIm = f32x4.add(wordIm(odd, low, high), timesG2Im(odd, low2, high2));
    low = <usize>load<u16>(source, 4);
    high = <usize>load<u16>(source, 6);
    low2 = <usize>load<u16>(source, 12);
    high2 = <usize>load<u16>(source, 14);
    const wRe = f32x4.add(wordRe(odd, low, high), timesG2Re(odd, low2, high2));
    const wIm = f32x4.add(wordIm(odd, low, high), timesG2Im(odd, low2, high2));
    const pRe = addProductRe(uRe, wRe, wIm, gRe, gIm);
    const pIm = addProductIm(uIm, wRe, wIm, gRe, gIm);
    v128.store(plus, pRe);
    v128.store(plus, pIm, 16);
    v128.store(minus, multiplySubtract(uRe, two, pRe));
    v128.store(minus, multiplySubtract(uIm, two, pIm), 16);
  }
}

/** Returns the sum of a word from the rows of its bytes. The factor between them is W^(kn/2) = (−1)^c. */
@inline
function wordRe(odd: bool, low: usize, high: usize): v128 {
  return odd
    ? f32x4.sub(v128.load(low, CLASS_SUMS), v128.load(high, CLASS_SUMS))
    : f32x4.add(v128.load(low, CLASS_SUMS), v128.load(high, CLASS_SUMS));
}

@inline
function wordIm(odd: bool, low: usize, high: usize): v128 {
  return odd
    ? f32x4.sub(v128.load(low, CLASS_SUMS + 16), v128.load(high, CLASS_SUMS + 16))
    : f32x4.add(v128.load(low, CLASS_SUMS + 16), v128.load(high, CLASS_SUMS + 16));
}

/** Returns the same times γ². */
@inline
function timesG2Re(odd: bool, low: usize, high: usize): v128 {
  return odd
    ? f32x4.sub(v128.load(low, CLASS_SUMS + 0x2000), v128.load(high, CLASS_SUMS + 0x2000))
    : f32x4.add(v128.load(low, CLASS_SUMS + 0x2000), v128.load(high, CLASS_SUMS + 0x2000));
}

@inline
function timesG2Im(odd: bool, low: usize, high: usize): v128 {
  return odd
    ? f32x4.sub(v128.load(low, CLASS_SUMS + 0x2010), v128.load(high, CLASS_SUMS + 0x2010))
    : f32x4.add(v128.load(low, CLASS_SUMS + 0x2010), v128.load(high, CLASS_SUMS + 0x2010));
}

/**
 * Computes class 16 from `WORDS`. As W^(16n/64) = −i, with the ones p_q of word i + qm the coefficient
 * is 2(p_0 − p_2) − 2i(p_1 − p_3). Eight positions at once.
 */
export function sumClass16(m: usize): void {
  const words = m << 1;
  for (let i: usize = 0; i < m; i += 8) {
    const p = WORDS + (i << 1);
    const re = i16x8.shl(i16x8.sub(ones(p), ones(p + words * 2)), 1);
    const im = i16x8.shl(i16x8.sub(ones(p + words * 3), ones(p + words)), 1);
    const target = CLASS_16 + (i << 2);
    v128.store(target, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(re)));
    v128.store(target, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(re)), 16);
    const imaginary = CLASS_16_IMAGINARY + (i << 2);
    v128.store(imaginary, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(im)));
    v128.store(imaginary, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(im)), 16);
  }
}

/** Returns the number of ones of each of the eight words at `p`. */
@inline
function ones(p: usize): v128 {
  return i16x8.extadd_pairwise_i8x16_u(i8x16.popcnt(v128.load(p)));
}

/** Returns x·w + y for a coefficient x of class 16 at `p`, the same in all lanes. */
@inline
export function addClass16Re(y: v128, p: usize, wRe: v128, wIm: v128): v128 {
  const re = v128.load32_splat(p);
  const im = v128.load32_splat(p, CLASS_16_IMAGINARY - CLASS_16);
  return addProductRe(y, re, im, wRe, wIm);
}

@inline
export function addClass16Im(y: v128, p: usize, wRe: v128, wIm: v128): v128 {
  const re = v128.load32_splat(p);
  const im = v128.load32_splat(p, CLASS_16_IMAGINARY - CLASS_16);
  return addProductIm(y, re, im, wRe, wIm);
}

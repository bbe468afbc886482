/**
 * From bits to the remainders of the two jobs of a pair, and of class 16: the first six levels of the
 * tree (dft.ts), all of them additions of table rows.
 */
import { addProductIm, addProductRe, multiplyAdd, multiplySubtract } from './dft-complex';
import {
  BYTE_SUMS,
  BYTE_SUMS_SIZE,
  CLASS_16,
  CLASS_16_IMAGINARY,
  CLASS_SUMS,
  OFFSETS,
  PAIR_FACTORS,
  PAIR_FACTORS_SIZE,
  WORDS,
  WORKSPACE,
} from './dft-memory';
import { INPUT } from './memory';

/** Rows of the transposition: bit i of row r is bit i + r·n/16 of the sequence. */
const ROWS = 16;
/** Positions transposed at once. */
const BLOCK = 128;

/**
 * Fills `WORDS`: bit j of word i is bit i + j·n/16 of the sequence. Writes whole blocks, so up to 127
 * words behind the last hold bits of other positions; n/16 MUST be a multiple of 4.
 */
export function transposeBits(n: usize): void {
  const positions = n / ROWS;
  for (let i: usize = 0; i < positions; i += BLOCK) {
    transposeRows(i, positions, WORKSPACE);
    transposeRows(i + 8 * positions, positions, WORKSPACE + 16);
    shuffle(WORKSPACE, WORKSPACE + 256);
    shuffle(WORKSPACE + 256, WORKSPACE);
    shuffle(WORKSPACE, WORKSPACE + 256);
    shuffle(WORKSPACE + 256, WORDS + (i << 1));
  }
}

/** 128 bits from bit `i` on; `i` MUST be a multiple of 4. */
@inline
function rowAt(i: usize): v128 {
  const p = INPUT + (i >> 3);
  const shift = <i32>(i & 7);
  return v128.or(i64x2.shr_u(v128.load(p), shift), i64x2.shl(v128.load(p, 1), 8 - shift));
}

/** The bits in which b, and a shifted down, differ. */
@inline
function swapMask(a: v128, b: v128, shift: i32, mask: v128): v128 {
  return v128.and(v128.xor(i64x2.shr_u(a, shift), b), mask);
}

/**
 * Transposes 8 rows of 128 bits, from bit `i` on and `distance` bits apart, in blocks of 8 × 8: byte b of
 * the k-th vector at `target` (32 bytes apart) has the bits of position 8b + k. Each step exchanges
 * one bit of the row number with one of the position.
 */
function transposeRows(i: usize, distance: usize, target: usize): void {
  let a0 = rowAt(i);
  let a1 = rowAt(i + distance);
  let a2 = rowAt(i + distance * 2);
  let a3 = rowAt(i + distance * 3);
  let a4 = rowAt(i + distance * 4);
  let a5 = rowAt(i + distance * 5);
  let a6 = rowAt(i + distance * 6);
  let a7 = rowAt(i + distance * 7);

  const low4 = i8x16.splat(0x0f);
  let t = swapMask(a0, a4, 4, low4);
  a0 = v128.xor(a0, i64x2.shl(t, 4));
  a4 = v128.xor(a4, t);
  t = swapMask(a1, a5, 4, low4);
  a1 = v128.xor(a1, i64x2.shl(t, 4));
  a5 = v128.xor(a5, t);
  t = swapMask(a2, a6, 4, low4);
  a2 = v128.xor(a2, i64x2.shl(t, 4));
  a6 = v128.xor(a6, t);
  t = swapMask(a3, a7, 4, low4);
  a3 = v128.xor(a3, i64x2.shl(t, 4));
  a7 = v128.xor(a7, t);

  const low2 = i8x16.splat(0x33);
  t = swapMask(a0, a2, 2, low2);
  a0 = v128.xor(a0, i64x2.shl(t, 2));
  a2 = v128.xor(a2, t);
  t = swapMask(a1, a3, 2, low2);
  a1 = v128.xor(a1, i64x2.shl(t, 2));
  a3 = v128.xor(a3, t);
  t = swapMask(a4, a6, 2, low2);
  a4 = v128.xor(a4, i64x2.shl(t, 2));
  a6 = v128.xor(a6, t);
  t = swapMask(a5, a7, 2, low2);
  a5 = v128.xor(a5, i64x2.shl(t, 2));
  a7 = v128.xor(a7, t);

  const low1 = i8x16.splat(0x55);
  t = swapMask(a0, a1, 1, low1);
  v128.store(target, v128.xor(a0, i64x2.shl(t, 1)));
  v128.store(target, v128.xor(a1, t), 32);
  t = swapMask(a2, a3, 1, low1);
  v128.store(target, v128.xor(a2, i64x2.shl(t, 1)), 64);
  v128.store(target, v128.xor(a3, t), 96);
  t = swapMask(a4, a5, 1, low1);
  v128.store(target, v128.xor(a4, i64x2.shl(t, 1)), 128);
  v128.store(target, v128.xor(a5, t), 160);
  t = swapMask(a6, a7, 1, low1);
  v128.store(target, v128.xor(a6, i64x2.shl(t, 1)), 192);
  v128.store(target, v128.xor(a7, t), 224);
}

/** Rotates the 8-bit index of 256 bytes by one bit; four times transpose 16 × 16 bytes. */
function shuffle(from: usize, to: usize): void {
  for (let i: usize = 0; i < 8; i++) {
    const a = v128.load(from + (i << 4));
    const b = v128.load(from + (i << 4), 128);
    const p = to + (i << 5);
    v128.store(
      p,
      v128.shuffle<u8>(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
    );
    v128.store(
      p,
      v128.shuffle<u8>(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
      16,
    );
  }
}

/**
 * Fills `OFFSETS` from `WORDS`: for position i < m and q = 0 … 3 the two bytes of word i + qm, each as
 * the offset of its row. Eight positions at once, so up to 7 behind the last are written.
 */
export function computeOffsets(m: usize): void {
  const words = m << 1;
  for (let i: usize = 0; i < m; i += 8) {
    const p = WORDS + (i << 1);
    const w0 = v128.load(p);
    const w1 = v128.load(p + words);
    const w2 = v128.load(p + words * 2);
    const w3 = v128.load(p + words * 3);
    const target = OFFSETS + (i << 4);
    const low01 = v128.shuffle<u16>(w0, w1, 0, 8, 1, 9, 2, 10, 3, 11);
    const low23 = v128.shuffle<u16>(w2, w3, 0, 8, 1, 9, 2, 10, 3, 11);
    const high01 = v128.shuffle<u16>(w0, w1, 4, 12, 5, 13, 6, 14, 7, 15);
    const high23 = v128.shuffle<u16>(w2, w3, 4, 12, 5, 13, 6, 14, 7, 15);
    storeOffsets(target, v128.shuffle<u32>(low01, low23, 0, 4, 1, 5));
    storeOffsets(target + 32, v128.shuffle<u32>(low01, low23, 2, 6, 3, 7));
    storeOffsets(target + 64, v128.shuffle<u32>(high01, high23, 0, 4, 1, 5));
    storeOffsets(target + 96, v128.shuffle<u32>(high01, high23, 2, 6, 3, 7));
  }
}

/** Two positions. A row has 32 bytes. */
@inline
function storeOffsets(p: usize, bytes: v128): void {
  v128.store(p, i16x8.shl(i16x8.extend_low_i8x16_u(bytes), 5));
  v128.store(p, i16x8.shl(i16x8.extend_high_i8x16_u(bytes), 5), 16);
}

/** Makes c the class in work. */
export function selectClass(c: usize): void {
  memory.copy(CLASS_SUMS, BYTE_SUMS + c * BYTE_SUMS_SIZE, BYTE_SUMS_SIZE);
}

/**
 * Coefficients of both jobs of the pair of classes c, for `count` positions whose offsets are at `source`.
 * Four values a_q = Σ_j x_(i+qm+jn/16) W^(kjn/16) come from the table; u = a_0 + γ²a_2 and
 * w = a_1 + γ²a_3 make u + γw (k = c + 4·lane) and −(u − γw) (k + 32).
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
  const g2Re = v128.load(factors, 32);
  const g2Im = v128.load(factors, 48);
  const two = f32x4.splat(2);
  const end = source + (count << 4);
  for (; source < end; source += 16, plus += 32, minus += 32) {
    let low = <usize>load<u16>(source, 8);
    let high = <usize>load<u16>(source, 10);
    let xRe = wordRe(odd, low, high);
    let xIm = wordIm(odd, low, high);
    low = <usize>load<u16>(source);
    high = <usize>load<u16>(source, 2);
    let yRe = wordRe(odd, low, high);
    let yIm = wordIm(odd, low, high);
    const uRe = addProductRe(yRe, xRe, xIm, g2Re, g2Im);
    const uIm = addProductIm(yIm, xRe, xIm, g2Re, g2Im);
    low = <usize>load<u16>(source, 12);
    high = <usize>load<u16>(source, 14);
    xRe = wordRe(odd, low, high);
    xIm = wordIm(odd, low, high);
    low = <usize>load<u16>(source, 4);
    high = <usize>load<u16>(source, 6);
    yRe = wordRe(odd, low, high);
    yIm = wordIm(odd, low, high);
    const wRe = addProductRe(yRe, xRe, xIm, g2Re, g2Im);
    const wIm = addProductIm(yIm, xRe, xIm, g2Re, g2Im);
    const pRe = addProductRe(uRe, wRe, wIm, gRe, gIm);
    const pIm = addProductIm(uIm, wRe, wIm, gRe, gIm);
    v128.store(plus, pRe);
    v128.store(plus, pIm, 16);
    v128.store(minus, multiplySubtract(uRe, two, pRe));
    v128.store(minus, multiplySubtract(uIm, two, pIm), 16);
  }
}

/**
 * The sum of a word from the rows of its bytes. The factor between them is W^(kn/2) = (−1)^c.
 */
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

/**
 * Class 16 from `WORDS`: W^(16n/64) = −i, so that with the ones p_q of word i + qm the coefficient is
 * 2(p_0 − p_2) − 2i(p_1 − p_3). Eight positions at once.
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

/** The number of ones of each of the eight words at `p`. */
@inline
function ones(p: usize): v128 {
  return i16x8.extadd_pairwise_i8x16_u(i8x16.popcnt(v128.load(p)));
}

/** x·w + y for a coefficient x of class 16 at `p`, the same in all lanes. */
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

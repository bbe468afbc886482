/** The butterflies of five, and the last level of the tree for n = 10^6. See dft-butterfly4.ts. */
import {
  addProductIm,
  addProductRe,
  FUSED,
  loadTwo,
  multiplyAdd,
  multiplySubtract,
  productIm,
  productRe,
} from './dft-complex';
import { WORKSPACE } from './dft-memory';
import {
  aboveLow,
  addBelow,
  hasListed,
  keepHighest,
  minusLow,
  scan,
  tally,
} from './dft-threshold';

/** Bytes of the factors γ … γ⁴ of a node: as vectors, and as single values for all lanes. */
export const LANE_NODE: usize = 128;
export const NODE: usize = 32;

/** cos 72°, cos 144°, sin 72°, sin 144° / sin 72°, in memory for the same reason as in `loadTwo`. */
const PENTAGON: usize = memory.data<f32>(
  [
    0.30901699437494745, 0.30901699437494745, 0.30901699437494745, 0.30901699437494745,
    -0.8090169943749475, -0.8090169943749475, -0.8090169943749475, -0.8090169943749475,
    0.9510565162951535, 0.9510565162951535, 0.9510565162951535, 0.9510565162951535,
    0.6180339887498949, 0.6180339887498949, 0.6180339887498949, 0.6180339887498949,
  ],
  16,
);

export function twistAll(start: usize, twist: usize): void {
  const end = start + 125 * 32;
  for (let p = start, w = twist; p < end; p += 32, w += 32) {
    const re = v128.load(p);
    const im = v128.load(p, 16);
    const wRe = v128.load(w);
    const wIm = v128.load(w, 16);
    v128.store(p, productRe(re, im, wRe, wIm));
    v128.store(p, productIm(re, im, wRe, wIm), 16);
  }
}

/** Stores a coefficient, or for a leaf its distance above the low end of the band. */
@inline
function put(leaf: bool, p: usize, re: v128, im: v128): void {
  if (leaf) {
    v128.store(p, aboveLow(re, im, minusLow()));
  } else {
    v128.store(p, re);
    v128.store(p, im, 16);
  }
}

/**
 * One butterfly, from b_j = γ^j a_j to Σ_j b_j e^(−2πi jq/5) for q = 0 … 4, with the factors at
 * `f`: vectors, or single values when `shared`.
 */
@inline
function butterfly(
  fused: i32,
  shared: bool,
  leaf: bool,
  f: usize,
  a0: usize,
  a1: usize,
  a2: usize,
  a3: usize,
  a4: usize,
  b0: usize,
  b1: usize,
  b2: usize,
  b3: usize,
  b4: usize,
): void {
  const two = loadTwo();
  // s = b_1 + b_4 and d = b_4 − b_1.
  let xRe = v128.load(a1);
  let xIm = v128.load(a1, 16);
  let gRe = shared ? v128.load32_splat(f) : v128.load(f);
  let gIm = shared ? v128.load32_splat(f, 4) : v128.load(f, 16);
  let tRe = productRe(xRe, xIm, gRe, gIm);
  let tIm = productIm(xRe, xIm, gRe, gIm);
  xRe = v128.load(a4);
  xIm = v128.load(a4, 16);
  gRe = shared ? v128.load32_splat(f, 24) : v128.load(f, 96);
  gIm = shared ? v128.load32_splat(f, 28) : v128.load(f, 112);
  let sRe: v128;
  let sIm: v128;
  let dRe: v128;
  let dIm: v128;
  if (fused & 1) {
    sRe = addProductRe(tRe, xRe, xIm, gRe, gIm);
    sIm = addProductIm(tIm, xRe, xIm, gRe, gIm);
    dRe = multiplySubtract(tRe, two, sRe);
    dIm = multiplySubtract(tIm, two, sIm);
  } else {
    const cRe = productRe(xRe, xIm, gRe, gIm);
    const cIm = productIm(xRe, xIm, gRe, gIm);
    sRe = f32x4.add(cRe, tRe);
    sIm = f32x4.add(cIm, tIm);
    dRe = f32x4.sub(cRe, tRe);
    dIm = f32x4.sub(cIm, tIm);
  }
  // s2 = b_2 + b_3 and d2 = b_3 − b_2.
  xRe = v128.load(a2);
  xIm = v128.load(a2, 16);
  gRe = shared ? v128.load32_splat(f, 8) : v128.load(f, 32);
  gIm = shared ? v128.load32_splat(f, 12) : v128.load(f, 48);
  tRe = productRe(xRe, xIm, gRe, gIm);
  tIm = productIm(xRe, xIm, gRe, gIm);
  xRe = v128.load(a3);
  xIm = v128.load(a3, 16);
  gRe = shared ? v128.load32_splat(f, 16) : v128.load(f, 64);
  gIm = shared ? v128.load32_splat(f, 20) : v128.load(f, 80);
  let s2Re: v128;
  let s2Im: v128;
  let d2Re: v128;
  let d2Im: v128;
  if (fused & 1) {
    s2Re = addProductRe(tRe, xRe, xIm, gRe, gIm);
    s2Im = addProductIm(tIm, xRe, xIm, gRe, gIm);
    d2Re = multiplySubtract(tRe, two, s2Re);
    d2Im = multiplySubtract(tIm, two, s2Im);
  } else {
    const cRe = productRe(xRe, xIm, gRe, gIm);
    const cIm = productIm(xRe, xIm, gRe, gIm);
    s2Re = f32x4.add(cRe, tRe);
    s2Im = f32x4.add(cIm, tIm);
    d2Re = f32x4.sub(cRe, tRe);
    d2Im = f32x4.sub(cIm, tIm);
  }
  const yRe = v128.load(a0);
  const yIm = v128.load(a0, 16);
  put(leaf, b0, f32x4.add(yRe, f32x4.add(sRe, s2Re)), f32x4.add(yIm, f32x4.add(sIm, s2Im)));

  const cos72 = v128.load(PENTAGON);
  const cos144 = v128.load(PENTAGON, 16);
  const sin72 = v128.load(PENTAGON, 32);
  const ratio = v128.load(PENTAGON, 48);
  let mRe = multiplyAdd(s2Re, cos144, multiplyAdd(sRe, cos72, yRe));
  let mIm = multiplyAdd(s2Im, cos144, multiplyAdd(sIm, cos72, yIm));
  let eRe = multiplyAdd(d2Re, ratio, dRe);
  let eIm = multiplyAdd(d2Im, ratio, dIm);
  put(leaf, b1, multiplySubtract(eIm, sin72, mRe), multiplyAdd(eRe, sin72, mIm));
  put(leaf, b4, multiplyAdd(eIm, sin72, mRe), multiplySubtract(eRe, sin72, mIm));
  mRe = multiplyAdd(s2Re, cos72, multiplyAdd(sRe, cos144, yRe));
  mIm = multiplyAdd(s2Im, cos72, multiplyAdd(sIm, cos144, yIm));
  eRe = multiplySubtract(dRe, ratio, d2Re);
  eIm = multiplySubtract(dIm, ratio, d2Im);
  put(leaf, b2, multiplyAdd(eIm, sin72, mRe), multiplySubtract(eRe, sin72, mIm));
  put(leaf, b3, multiplySubtract(eIm, sin72, mRe), multiplyAdd(eRe, sin72, mIm));
}

/**
 * Splits a node: its fifths are `fifth` bytes apart at `from`, the remainders `toFifth` bytes apart
 * at `to`, which may be the same place. `count` is the number of butterflies.
 */
export function split5(
  from: usize,
  to: usize,
  fifth: usize,
  toFifth: usize,
  count: usize,
  factors: usize,
): void {
  const end = from + (count << 5);
  let b = to;
  for (let a = from; a < end; a += 32, b += 32) {
    const a2 = a + fifth * 2;
    const b2 = b + toFifth * 2;
    butterfly(
      FUSED, false, false, factors, a, a + fifth, a2, a2 + fifth, a2 + fifth * 2,
      b, b + toFifth, b2, b2 + toFifth, b2 + toFifth * 2,
    );
  }
}

/** Like `split5` in place, with factors that the lanes share. */
@inline
export function splitShared(from: usize, fifth: usize, count: usize, factors: usize): void {
  const end = from + (count << 5);
  for (let a = from; a < end; a += 32) {
    const a2 = a + fifth * 2;
    const a3 = a2 + fifth;
    const a4 = a3 + fifth;
    butterfly(FUSED, true, false, factors, a, a + fifth, a2, a3, a4, a, a + fifth, a2, a3, a4);
  }
}

/** Computes the level of m = 5 for 25 nodes: the values of 125 bins, which are compared and not kept. */
export function countLeaves(start: usize, factors: usize): void {
  const v = WORKSPACE;
  let below = i8x16.splat(0);
  let belowLast = i32x4.splat(0);
  let nearest = i32x4.splat(-1);
  let highest = i32x4.splat(0);
  const end = start + 125 * 32;
  for (let p = start, f = factors; p < end; p += 160, f += NODE) {
    butterfly(
      FUSED, true, true, f, p, p + 32, p + 64, p + 96, p + 128, v, v + 16, v + 32, v + 48, v + 64,
    );
    const v0 = v128.load(v);
    const v1 = v128.load(v, 16);
    const v2 = v128.load(v, 32);
    const v3 = v128.load(v, 48);
    const v4 = v128.load(v, 64);
    below = addBelow(below, v0, v1, v2, v3);
    belowLast = i32x4.add(belowLast, i32x4.shr_u(v4, 31));
    nearest = i32x4.min_u(nearest, i32x4.min_u(i32x4.min_u(v0, v1), i32x4.min_u(v2, v3)));
    nearest = i32x4.min_u(nearest, v4);
    highest = i32x4.max_s(highest, i32x4.max_s(i32x4.max_s(v0, v1), i32x4.max_s(v2, v3)));
    highest = i32x4.max_s(highest, v4);
  }
  keepHighest(highest);
  if (hasListed(nearest, highest)) scanLeaves(start, factors);
  else tally(below, belowLast);
}

/** Like `countLeaves`, but keeps the values. */
function scanLeaves(start: usize, factors: usize): void {
  const end = start + 125 * 32;
  for (let p = start, f = factors; p < end; p += 160, f += NODE) {
    butterfly(
      FUSED, true, false, f, p, p + 32, p + 64, p + 96, p + 128, p, p + 32, p + 64, p + 96, p + 128,
    );
  }
  scan(start, 125);
}

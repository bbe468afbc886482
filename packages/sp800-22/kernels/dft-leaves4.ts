/**
 * The last level of the tree for n = 2^20: the values of the bins, which are compared and not kept.
 */
import { butterfly, NODE } from './dft-butterfly4';
import {
  addProductIm,
  addProductRe,
  FUSED,
  loadTwo,
  multiplySubtract,
  productIm,
  productRe,
} from './dft-complex';
import {
  aboveLow,
  addBelow,
  hasListed,
  keepHighest,
  minusLow,
  scan,
  tally,
} from './dft-threshold';

/** Computes the level of m = 4 for 16 nodes: 64 bins in each lane. */
export function countLeaves(start: usize, factors: usize): void {
  countLeavesWith(FUSED, start, factors);
}

@inline
function countLeavesWith(fused: i32, start: usize, factors: usize): void {
  const two = loadTwo();
  const minus = minusLow();
  let below = i8x16.splat(0);
  let nearest = i32x4.splat(-1);
  let highest = i32x4.splat(0);
  const end = start + 2048;
  for (let p = start, f = factors; p < end; p += 128, f += NODE) {
    // As in `butterfly`.
    let gRe = v128.load32_splat(f);
    let gIm = v128.load32_splat(f, 4);
    let xRe = v128.load(p, 32);
    let xIm = v128.load(p, 48);
    const tRe = productRe(xRe, xIm, gRe, gIm);
    const tIm = productIm(xRe, xIm, gRe, gIm);
    gRe = v128.load32_splat(f, 16);
    gIm = v128.load32_splat(f, 20);
    xRe = v128.load(p, 96);
    xIm = v128.load(p, 112);
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
    const yRe = v128.load(p);
    const yIm = v128.load(p, 16);
    gRe = v128.load32_splat(f, 8);
    gIm = v128.load32_splat(f, 12);
    xRe = v128.load(p, 64);
    xIm = v128.load(p, 80);
    let uRe: v128;
    let uIm: v128;
    let vRe: v128;
    let vIm: v128;
    if (fused & 1) {
      uRe = addProductRe(yRe, xRe, xIm, gRe, gIm);
      uIm = addProductIm(yIm, xRe, xIm, gRe, gIm);
      vRe = multiplySubtract(yRe, two, uRe);
      vIm = multiplySubtract(yIm, two, uIm);
    } else {
      const cRe = productRe(xRe, xIm, gRe, gIm);
      const cIm = productIm(xRe, xIm, gRe, gIm);
      uRe = f32x4.add(cRe, yRe);
      uIm = f32x4.add(cIm, yIm);
      vRe = f32x4.sub(cRe, yRe);
      vIm = f32x4.sub(cIm, yIm);
    }
    const v0 = aboveLow(f32x4.add(uRe, sRe), f32x4.add(uIm, sIm), minus);
    nearest = i32x4.min_u(nearest, v0);
    highest = i32x4.max_s(highest, v0);
    const v1 = aboveLow(f32x4.sub(uRe, sRe), f32x4.sub(uIm, sIm), minus);
    nearest = i32x4.min_u(nearest, v1);
    highest = i32x4.max_s(highest, v1);
    const v2 = aboveLow(f32x4.add(vRe, dIm), f32x4.sub(vIm, dRe), minus);
    nearest = i32x4.min_u(nearest, v2);
    highest = i32x4.max_s(highest, v2);
    const v3 = aboveLow(f32x4.sub(vRe, dIm), f32x4.add(vIm, dRe), minus);
    nearest = i32x4.min_u(nearest, v3);
    highest = i32x4.max_s(highest, v3);
    below = addBelow(below, v0, v1, v2, v3);
  }
  keepHighest(highest);
  if (hasListed(nearest, highest)) scanLeaves(start, factors);
  else tally(below, i32x4.splat(0));
}

/** Like `countLeaves`, but keeps the values in place of the coefficients. */
function scanLeaves(start: usize, factors: usize): void {
  const end = start + 2048;
  for (let p = start, f = factors; p < end; p += 128, f += NODE) {
    butterfly(
      FUSED, p, p + 32, p + 64, p + 96,
      v128.load32_splat(f), v128.load32_splat(f, 4), v128.load32_splat(f, 8),
      v128.load32_splat(f, 12), v128.load32_splat(f, 16), v128.load32_splat(f, 20),
      loadTwo(), p, p + 32, p + 64, p + 96,
    );
  }
  scan(start, 64);
}

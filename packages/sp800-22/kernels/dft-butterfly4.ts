/**
 * The butterflies of four, level by level.
 *
 * The vector units and the 16 registers limit their speed. With fused multiply-add they take 24
 * operations: a difference x − y is computed from x and x + y, so that each product is part of a
 * multiply-add. Without it they take 34, because that would cost more.
 *
 * `fused` is 1 or 0. It is a parameter and not a compile-time question because of the order of
 * operations: Binaryen moves each value right before its first use, but not across a condition that
 * it has not yet resolved. In the order written here no value has to leave the registers: a third
 * less time, measured.
 */
import {
  addProductIm,
  addProductRe,
  FUSED,
  loadTwo,
  multiplySubtract,
  productIm,
  productRe,
} from './dft-complex';

/** Bytes of the factors γ, γ², γ³ of a node: as vectors, and as single values for all lanes. */
export const LANE_NODE: usize = 96;
export const NODE: usize = 24;

/** Positions that pass the entry and two levels together, 16 such groups at a time. */
export const TILE: usize = 16;

/**
 * One butterfly: from a_0 … a_3 to the remainders modulo x^(m/4) − γ, + γ, + iγ, − iγ, in this
 * order. The last two are negated, because only |S| matters.
 */
@inline
export function butterfly(
  fused: i32,
  a0: usize,
  a1: usize,
  a2: usize,
  a3: usize,
  gRe: v128,
  gIm: v128,
  g2Re: v128,
  g2Im: v128,
  g3Re: v128,
  g3Im: v128,
  two: v128,
  b0: usize,
  b1: usize,
  b2: usize,
  b3: usize,
): void {
  // s = γa_1 + γ³a_3 and d = γ³a_3 − γa_1.
  let xRe = v128.load(a1);
  let xIm = v128.load(a1, 16);
  const tRe = productRe(xRe, xIm, gRe, gIm);
  const tIm = productIm(xRe, xIm, gRe, gIm);
  xRe = v128.load(a3);
  xIm = v128.load(a3, 16);
  let sRe: v128;
  let sIm: v128;
  let dRe: v128;
  let dIm: v128;
  if (fused & 1) {
    sRe = addProductRe(tRe, xRe, xIm, g3Re, g3Im);
    sIm = addProductIm(tIm, xRe, xIm, g3Re, g3Im);
    dRe = multiplySubtract(tRe, two, sRe);
    dIm = multiplySubtract(tIm, two, sIm);
  } else {
    const cRe = productRe(xRe, xIm, g3Re, g3Im);
    const cIm = productIm(xRe, xIm, g3Re, g3Im);
    sRe = f32x4.add(cRe, tRe);
    sIm = f32x4.add(cIm, tIm);
    dRe = f32x4.sub(cRe, tRe);
    dIm = f32x4.sub(cIm, tIm);
  }
  // u = a_0 + γ²a_2 and v = γ²a_2 − a_0.
  const yRe = v128.load(a0);
  const yIm = v128.load(a0, 16);
  xRe = v128.load(a2);
  xIm = v128.load(a2, 16);
  let uRe: v128;
  let uIm: v128;
  let vRe: v128;
  let vIm: v128;
  if (fused & 1) {
    uRe = addProductRe(yRe, xRe, xIm, g2Re, g2Im);
    uIm = addProductIm(yIm, xRe, xIm, g2Re, g2Im);
    vRe = multiplySubtract(yRe, two, uRe);
    vIm = multiplySubtract(yIm, two, uIm);
  } else {
    const cRe = productRe(xRe, xIm, g2Re, g2Im);
    const cIm = productIm(xRe, xIm, g2Re, g2Im);
    uRe = f32x4.add(cRe, yRe);
    uIm = f32x4.add(cIm, yIm);
    vRe = f32x4.sub(cRe, yRe);
    vIm = f32x4.sub(cIm, yIm);
  }
  v128.store(b0, f32x4.add(uRe, sRe));
  v128.store(b0, f32x4.add(uIm, sIm), 16);
  v128.store(b1, f32x4.sub(uRe, sRe));
  v128.store(b1, f32x4.sub(uIm, sIm), 16);
  v128.store(b2, f32x4.add(vRe, dIm));
  v128.store(b2, f32x4.sub(vIm, dRe), 16);
  v128.store(b3, f32x4.sub(vRe, dIm));
  v128.store(b3, f32x4.add(vIm, dRe), 16);
}

/**
 * Splits a node in place: its quarters, and then the remainders of its children, are `quarter`
 * bytes apart at `start`. `count` is the even number of butterflies. Each lane has its own factors.
 */
export function split4(start: usize, quarter: usize, count: usize, factors: usize): void {
  const gRe = v128.load(factors);
  const gIm = v128.load(factors, 16);
  const g2Re = v128.load(factors, 32);
  const g2Im = v128.load(factors, 48);
  const g3Re = v128.load(factors, 64);
  const g3Im = v128.load(factors, 80);
  const two = loadTwo();
  const end = start + (count << 5);
  let a0 = start;
  let a1 = start + quarter;
  let a2 = a1 + quarter;
  let a3 = a2 + quarter;
  while (a0 < end) {
    butterfly(
      FUSED, a0, a1, a2, a3,
      gRe, gIm, g2Re, g2Im, g3Re, g3Im, two, a0, a1, a2, a3,
    );
    butterfly(
      FUSED, a0 + 32, a1 + 32, a2 + 32, a3 + 32,
      gRe, gIm, g2Re, g2Im, g3Re, g3Im, two, a0 + 32, a1 + 32, a2 + 32, a3 + 32,
    );
    a0 += 64;
    a1 += 64;
    a2 += 64;
    a3 += 64;
  }
}

/** Like `split4` for m = 4096, from a tile at `from` to remainders 32 KiB apart at `to`. */
export function moveAndSplit(from: usize, to: usize, factors: usize): void {
  const gRe = v128.load(factors);
  const gIm = v128.load(factors, 16);
  const g2Re = v128.load(factors, 32);
  const g2Im = v128.load(factors, 48);
  const g3Re = v128.load(factors, 64);
  const g3Im = v128.load(factors, 80);
  const two = loadTwo();
  const end = from + TILE * 32;
  for (let a = from, b = to; a < end; a += 32, b += 32) {
    const a2 = a + 2 * 32 * TILE;
    const b2 = b + 0x10000;
    butterfly(
      FUSED, a, a + 32 * TILE, a2, a2 + 32 * TILE,
      gRe, gIm, g2Re, g2Im, g3Re, g3Im, two, b, b + 0x8000, b2, b2 + 0x8000,
    );
  }
}

/** Computes the level of m = 64; the twist makes the factors of all lanes equal. */
export function twistAndSplit(start: usize, factors: usize, twist: usize): void {
  twistAndSplitWith(FUSED, start, factors, twist);
}

@inline
function twistAndSplitWith(fused: i32, start: usize, factors: usize, twist: usize): void {
  const gRe = v128.load32_splat(factors);
  const gIm = v128.load32_splat(factors, 4);
  const g2Re = v128.load32_splat(factors, 8);
  const g2Im = v128.load32_splat(factors, 12);
  const g3Re = v128.load32_splat(factors, 16);
  const g3Im = v128.load32_splat(factors, 20);
  const two = loadTwo();
  const end = start + 512;
  for (let p = start, w = twist; p < end; p += 32, w += 32) {
    // As in `butterfly`.
    let xRe = v128.load(p, 512);
    let xIm = v128.load(p, 528);
    let wRe = v128.load(w, 512);
    let wIm = v128.load(w, 528);
    let zRe = productRe(xRe, xIm, wRe, wIm);
    let zIm = productIm(xRe, xIm, wRe, wIm);
    const tRe = productRe(zRe, zIm, gRe, gIm);
    const tIm = productIm(zRe, zIm, gRe, gIm);
    xRe = v128.load(p, 1536);
    xIm = v128.load(p, 1552);
    wRe = v128.load(w, 1536);
    wIm = v128.load(w, 1552);
    zRe = productRe(xRe, xIm, wRe, wIm);
    zIm = productIm(xRe, xIm, wRe, wIm);
    let sRe: v128;
    let sIm: v128;
    let dRe: v128;
    let dIm: v128;
    if (fused & 1) {
      sRe = addProductRe(tRe, zRe, zIm, g3Re, g3Im);
      sIm = addProductIm(tIm, zRe, zIm, g3Re, g3Im);
      dRe = multiplySubtract(tRe, two, sRe);
      dIm = multiplySubtract(tIm, two, sIm);
    } else {
      const cRe = productRe(zRe, zIm, g3Re, g3Im);
      const cIm = productIm(zRe, zIm, g3Re, g3Im);
      sRe = f32x4.add(cRe, tRe);
      sIm = f32x4.add(cIm, tIm);
      dRe = f32x4.sub(cRe, tRe);
      dIm = f32x4.sub(cIm, tIm);
    }
    xRe = v128.load(p);
    xIm = v128.load(p, 16);
    wRe = v128.load(w);
    wIm = v128.load(w, 16);
    const yRe = productRe(xRe, xIm, wRe, wIm);
    const yIm = productIm(xRe, xIm, wRe, wIm);
    xRe = v128.load(p, 1024);
    xIm = v128.load(p, 1040);
    wRe = v128.load(w, 1024);
    wIm = v128.load(w, 1040);
    zRe = productRe(xRe, xIm, wRe, wIm);
    zIm = productIm(xRe, xIm, wRe, wIm);
    let uRe: v128;
    let uIm: v128;
    let vRe: v128;
    let vIm: v128;
    if (fused & 1) {
      uRe = addProductRe(yRe, zRe, zIm, g2Re, g2Im);
      uIm = addProductIm(yIm, zRe, zIm, g2Re, g2Im);
      vRe = multiplySubtract(yRe, two, uRe);
      vIm = multiplySubtract(yIm, two, uIm);
    } else {
      const cRe = productRe(zRe, zIm, g2Re, g2Im);
      const cIm = productIm(zRe, zIm, g2Re, g2Im);
      uRe = f32x4.add(cRe, yRe);
      uIm = f32x4.add(cIm, yIm);
      vRe = f32x4.sub(cRe, yRe);
      vIm = f32x4.sub(cIm, yIm);
    }
    v128.store(p, f32x4.add(uRe, sRe));
    v128.store(p, f32x4.add(uIm, sIm), 16);
    v128.store(p, f32x4.sub(uRe, sRe), 512);
    v128.store(p, f32x4.sub(uIm, sIm), 528);
    v128.store(p, f32x4.add(vRe, dIm), 1024);
    v128.store(p, f32x4.sub(vIm, dRe), 1040);
    v128.store(p, f32x4.sub(vRe, dIm), 1536);
    v128.store(p, f32x4.add(vIm, dRe), 1552);
  }
}

/** Computes the level of m = 16 for four nodes. */
export function split16(start: usize, factors: usize): void {
  const two = loadTwo();
  const end = start + 2048;
  for (let p = start, f = factors; p < end; p += 512, f += NODE) {
    const gRe = v128.load32_splat(f);
    const gIm = v128.load32_splat(f, 4);
    const g2Re = v128.load32_splat(f, 8);
    const g2Im = v128.load32_splat(f, 12);
    const g3Re = v128.load32_splat(f, 16);
    const g3Im = v128.load32_splat(f, 20);
    for (let q = p; q < p + 128; q += 64) {
      butterfly(
        FUSED, q, q + 128, q + 256, q + 384,
        gRe, gIm, g2Re, g2Im, g3Re, g3Im, two, q, q + 128, q + 256, q + 384,
      );
      butterfly(
        FUSED, q + 32, q + 160, q + 288, q + 416,
        gRe, gIm, g2Re, g2Im, g3Re, g3Im, two, q + 32, q + 160, q + 288, q + 416,
      );
    }
  }
}

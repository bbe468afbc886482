/** The levels of the tree for n = 2^20: remainders of 4^7 = 16384 coefficients per class. See dft.ts. */
import {
  addProductIm,
  addProductRe,
  multiplySubtract,
  productIm,
  productRe,
} from './dft-complex';
import { addClass16Im, addClass16Re, addPairs, selectClass } from './dft-entry';
import {
  APART_FACTORS,
  CLASS_16,
  LANE_FACTORS,
  LANE_FACTORS_SIZE,
  MINUS,
  MINUS_TILE,
  NODE_FACTORS_1,
  NODE_FACTORS_2,
  NODE_FACTORS_3,
  OFFSETS,
  PLUS,
  PLUS_TILE,
  TWISTS,
  TWISTS_SIZE,
} from './dft-memory';
import {
  aboveLow,
  addBelow,
  finishJob,
  highestSoFar,
  isInBand,
  keepHighest,
  lowThreshold,
  scan,
  startJob,
  tally,
} from './dft-threshold';

/** Factors of a node: γ, γ², γ³, as vectors and as the same value for all lanes. */
const LANE_NODE: usize = 96;
const NODE: usize = 24;

/** Positions that go through the entry and two levels together, 16 such groups at a time. */
const TILE: usize = 16;

/** Both jobs of the pair of classes c. */
export function countPair4(c: usize): void {
  selectClass(c);
  const plusFactors = LANE_FACTORS + c * 2 * LANE_FACTORS_SIZE;
  const minusFactors = plusFactors + LANE_FACTORS_SIZE;
  for (let i: usize = 0; i < 1024; i += TILE) {
    for (let row: usize = 0; row < 16; row++) {
      const tile = row * TILE * 32;
      addPairs(c, OFFSETS + ((i + (row << 10)) << 4), PLUS_TILE + tile, MINUS_TILE + tile, TILE);
    }
    splitTile(PLUS_TILE, plusFactors, PLUS + (i << 5));
    splitTile(MINUS_TILE, minusFactors, MINUS + (i << 5));
  }
  countJob(<i32>(c * 2), PLUS, 16, c == 0);
  countJob(<i32>(c * 2 + 1), MINUS, 16, c == 0);
}

/** The levels of m = 16384 and 4096 for TILE positions of each of the 16 nodes below. */
function splitTile(tile: usize, factors: usize, target: usize): void {
  split4(tile, tile, TILE << 7, TILE << 7, TILE << 2, factors);
  for (let node: usize = 0; node < 4; node++) {
    const from = tile + node * (TILE << 7);
    const to = target + (node << 17);
    split4(from, to, TILE << 5, 1024 << 5, TILE, factors + (1 + node) * LANE_NODE);
  }
}

/** Class 16: the residues 16, 80, 144 and 208 modulo 256 in the four lanes, 4096 coefficients. */
export function countClass16In4(): void {
  const w1Re = v128.load(APART_FACTORS, 32);
  const w1Im = v128.load(APART_FACTORS, 48);
  const w2Re = v128.load(APART_FACTORS, 64);
  const w2Im = v128.load(APART_FACTORS, 80);
  const w3Re = v128.load(APART_FACTORS, 96);
  const w3Im = v128.load(APART_FACTORS, 112);
  for (let i: usize = 0; i < 4096; i++) {
    const p = CLASS_16 + (i << 2);
    let re = v128.load32_splat(p);
    let im = v128.load32_splat(p, 0x10000);
    re = addClass16Re(re, p + 0x4000, w1Re, w1Im);
    im = addClass16Im(im, p + 0x4000, w1Re, w1Im);
    re = addClass16Re(re, p + 0x8000, w2Re, w2Im);
    im = addClass16Im(im, p + 0x8000, w2Re, w2Im);
    re = addClass16Re(re, p + 0xc000, w3Re, w3Im);
    im = addClass16Im(im, p + 0xc000, w3Re, w3Im);
    v128.store(PLUS + (i << 5), re);
    v128.store(PLUS + (i << 5), im, 16);
  }
  const factors = LANE_FACTORS + LANE_FACTORS_SIZE * 8 + LANE_NODE;
  split4(PLUS, PLUS, 1024 << 5, 1024 << 5, 1024, factors);
  countJob(8, PLUS, 4, false);
}

/** The levels from m = 1024 down, for the first `nodes` nodes of a job at `start`. */
function countJob(job: i32, start: usize, nodes: usize, ownMirror: bool): void {
  const factors = LANE_FACTORS + <usize>job * LANE_FACTORS_SIZE;
  const twist = TWISTS + <usize>job * TWISTS_SIZE;
  startJob(job, start, 4);
  for (let node: usize = 0; node < nodes; node++) {
    count1024(start + (node << 15), node, factors, twist);
  }
  finishJob(ownMirror);
}

function count1024(p: usize, node: usize, factors: usize, twist: usize): void {
  split4(p, p, 256 << 5, 256 << 5, 256, factors + (5 + node) * LANE_NODE);
  for (let a: usize = 0; a < 4; a++) {
    const node256 = node * 4 + a;
    const p256 = p + (a << 13);
    split4(p256, p256, 64 << 5, 64 << 5, 64, factors + (21 + node256) * LANE_NODE);
    for (let b: usize = 0; b < 4; b++) count64(p256 + (b << 11), node256 * 4 + b, twist);
  }
}

/** From m = 64 on the lanes share their factors. */
function count64(p: usize, node: usize, twist: usize): void {
  twistAndSplit(p, NODE_FACTORS_3 + node * NODE, twist);
  for (let a: usize = 0; a < 4; a++) {
    split16(p + (a << 9), NODE_FACTORS_2 + (node * 4 + a) * NODE);
  }
  countLeaves(p, NODE_FACTORS_1 + node * 16 * NODE);
}

/**
 * One butterfly: from a_0 … a_3 to the remainders modulo x^(m/4) − γ, + γ, + iγ, − iγ, in this order,
 * the last two negated (only |S| counts). A difference x − y is made of x and x + y, so that each
 * product is an addend of one multiply-add and never a number of its own.
 */
@inline
function butterfly(
  a0Re: v128,
  a0Im: v128,
  a1Re: v128,
  a1Im: v128,
  a2Re: v128,
  a2Im: v128,
  a3Re: v128,
  a3Im: v128,
  gRe: v128,
  gIm: v128,
  g2Re: v128,
  g2Im: v128,
  g3Re: v128,
  g3Im: v128,
  b0: usize,
  b1: usize,
  b2: usize,
  b3: usize,
): void {
  const two = f32x4.splat(2);
  // s = γa_1 + γ³a_3 and d = γ³a_3 − γa_1.
  const tRe = productRe(a1Re, a1Im, gRe, gIm);
  const tIm = productIm(a1Re, a1Im, gRe, gIm);
  const sRe = addProductRe(tRe, a3Re, a3Im, g3Re, g3Im);
  const sIm = addProductIm(tIm, a3Re, a3Im, g3Re, g3Im);
  const dRe = multiplySubtract(tRe, two, sRe);
  const dIm = multiplySubtract(tIm, two, sIm);
  // u = a_0 + γ²a_2 and w = γ²a_2 − a_0.
  const uRe = addProductRe(a0Re, a2Re, a2Im, g2Re, g2Im);
  const uIm = addProductIm(a0Im, a2Re, a2Im, g2Re, g2Im);
  v128.store(b0, f32x4.add(uRe, sRe));
  v128.store(b0, f32x4.add(uIm, sIm), 16);
  v128.store(b1, f32x4.sub(uRe, sRe));
  v128.store(b1, f32x4.sub(uIm, sIm), 16);
  const wRe = multiplySubtract(a0Re, two, uRe);
  const wIm = multiplySubtract(a0Im, two, uIm);
  v128.store(b2, f32x4.add(wRe, dIm));
  v128.store(b2, f32x4.sub(wIm, dRe), 16);
  v128.store(b3, f32x4.sub(wRe, dIm));
  v128.store(b3, f32x4.add(wIm, dRe), 16);
}

/**
 * Splits a node: its quarters are `quarter` bytes apart at `from`, the remainders `toQuarter` bytes apart
 * at `to`, which may be the same place. `count` butterflies, an even number.
 */
function split4(
  from: usize,
  to: usize,
  quarter: usize,
  toQuarter: usize,
  count: usize,
  factors: usize,
): void {
  const gRe = v128.load(factors);
  const gIm = v128.load(factors, 16);
  const g2Re = v128.load(factors, 32);
  const g2Im = v128.load(factors, 48);
  const g3Re = v128.load(factors, 64);
  const g3Im = v128.load(factors, 80);
  const end = from + (count << 5);
  let a0 = from;
  let a1 = from + quarter;
  let a2 = a1 + quarter;
  let a3 = a2 + quarter;
  let b0 = to;
  let b1 = to + toQuarter;
  let b2 = b1 + toQuarter;
  let b3 = b2 + toQuarter;
  while (a0 < end) {
    butterfly(
      v128.load(a0), v128.load(a0, 16), v128.load(a1), v128.load(a1, 16),
      v128.load(a2), v128.load(a2, 16), v128.load(a3), v128.load(a3, 16),
      gRe, gIm, g2Re, g2Im, g3Re, g3Im, b0, b1, b2, b3,
    );
    butterfly(
      v128.load(a0, 32), v128.load(a0, 48), v128.load(a1, 32), v128.load(a1, 48),
      v128.load(a2, 32), v128.load(a2, 48), v128.load(a3, 32), v128.load(a3, 48),
      gRe, gIm, g2Re, g2Im, g3Re, g3Im, b0 + 32, b1 + 32, b2 + 32, b3 + 32,
    );
    a0 += 64;
    a1 += 64;
    a2 += 64;
    a3 += 64;
    b0 += 64;
    b1 += 64;
    b2 += 64;
    b3 += 64;
  }
}

/** The level of m = 64; the twist makes the factors of all lanes equal. */
function twistAndSplit(start: usize, factors: usize, twist: usize): void {
  const gRe = v128.load32_splat(factors);
  const gIm = v128.load32_splat(factors, 4);
  const g2Re = v128.load32_splat(factors, 8);
  const g2Im = v128.load32_splat(factors, 12);
  const g3Re = v128.load32_splat(factors, 16);
  const g3Im = v128.load32_splat(factors, 20);
  const end = start + 512;
  for (let p = start, w = twist; p < end; p += 32, w += 32) {
    const a = p + 1024;
    butterfly(
      twistedRe(p, w), twistedIm(p, w), twistedRe(p + 512, w + 512), twistedIm(p + 512, w + 512),
      twistedRe(a, w + 1024), twistedIm(a, w + 1024),
      twistedRe(a + 512, w + 1536), twistedIm(a + 512, w + 1536),
      gRe, gIm, g2Re, g2Im, g3Re, g3Im, p, p + 512, a, a + 512,
    );
  }
}

@inline
function twistedRe(p: usize, w: usize): v128 {
  return productRe(v128.load(p), v128.load(p, 16), v128.load(w), v128.load(w, 16));
}

@inline
function twistedIm(p: usize, w: usize): v128 {
  return productIm(v128.load(p), v128.load(p, 16), v128.load(w), v128.load(w, 16));
}

/** The level of m = 16. */
function split16(start: usize, factors: usize): void {
  const gRe = v128.load32_splat(factors);
  const gIm = v128.load32_splat(factors, 4);
  const g2Re = v128.load32_splat(factors, 8);
  const g2Im = v128.load32_splat(factors, 12);
  const g3Re = v128.load32_splat(factors, 16);
  const g3Im = v128.load32_splat(factors, 20);
  const end = start + 128;
  for (let p = start; p < end; p += 32) {
    butterfly(
      v128.load(p), v128.load(p, 16), v128.load(p, 128), v128.load(p, 144),
      v128.load(p, 256), v128.load(p, 272), v128.load(p, 384), v128.load(p, 400),
      gRe, gIm, g2Re, g2Im, g3Re, g3Im, p, p + 128, p + 256, p + 384,
    );
  }
}

/** The level of m = 4 of 16 nodes: the values of 64 bins, which are compared and not kept. */
function countLeaves(start: usize, factors: usize): void {
  const two = f32x4.splat(2);
  const low = lowThreshold();
  let below = i8x16.splat(0);
  let nearest = i32x4.splat(-1);
  let highest = highestSoFar();
  const end = start + 2048;
  for (let p = start, f = factors; p < end; p += 128, f += NODE) {
    let xRe = v128.load(p, 32);
    let xIm = v128.load(p, 48);
    let gRe = v128.load32_splat(f);
    let gIm = v128.load32_splat(f, 4);
    const tRe = productRe(xRe, xIm, gRe, gIm);
    const tIm = productIm(xRe, xIm, gRe, gIm);
    xRe = v128.load(p, 96);
    xIm = v128.load(p, 112);
    gRe = v128.load32_splat(f, 16);
    gIm = v128.load32_splat(f, 20);
    const sRe = addProductRe(tRe, xRe, xIm, gRe, gIm);
    const sIm = addProductIm(tIm, xRe, xIm, gRe, gIm);
    const dRe = multiplySubtract(tRe, two, sRe);
    const dIm = multiplySubtract(tIm, two, sIm);
    const yRe = v128.load(p);
    const yIm = v128.load(p, 16);
    xRe = v128.load(p, 64);
    xIm = v128.load(p, 80);
    gRe = v128.load32_splat(f, 8);
    gIm = v128.load32_splat(f, 12);
    const uRe = addProductRe(yRe, xRe, xIm, gRe, gIm);
    const uIm = addProductIm(yIm, xRe, xIm, gRe, gIm);
    const wRe = multiplySubtract(yRe, two, uRe);
    const wIm = multiplySubtract(yIm, two, uIm);
    const v0 = aboveLow(f32x4.add(uRe, sRe), f32x4.add(uIm, sIm), low);
    const v1 = aboveLow(f32x4.sub(uRe, sRe), f32x4.sub(uIm, sIm), low);
    const v2 = aboveLow(f32x4.add(wRe, dIm), f32x4.sub(wIm, dRe), low);
    const v3 = aboveLow(f32x4.sub(wRe, dIm), f32x4.add(wIm, dRe), low);
    below = addBelow(below, v0, v1, v2, v3);
    nearest = i32x4.min_u(nearest, i32x4.min_u(i32x4.min_u(v0, v1), i32x4.min_u(v2, v3)));
    highest = i32x4.max_s(highest, i32x4.max_s(i32x4.max_s(v0, v1), i32x4.max_s(v2, v3)));
  }
  keepHighest(highest);
  if (isInBand(nearest)) scanLeaves(start, factors);
  else tally(below, i32x4.splat(0));
}

/** As `countLeaves`, by keeping the values. */
function scanLeaves(start: usize, factors: usize): void {
  const end = start + 2048;
  for (let p = start, f = factors; p < end; p += 128, f += NODE) {
    butterfly(
      v128.load(p), v128.load(p, 16), v128.load(p, 32), v128.load(p, 48),
      v128.load(p, 64), v128.load(p, 80), v128.load(p, 96), v128.load(p, 112),
      v128.load32_splat(f), v128.load32_splat(f, 4), v128.load32_splat(f, 8),
      v128.load32_splat(f, 12), v128.load32_splat(f, 16), v128.load32_splat(f, 20),
      p, p + 32, p + 64, p + 96,
    );
  }
  scan(start, 64);
}

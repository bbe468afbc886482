/** The levels of the tree for n = 10^6: remainders of 5^6 = 15625 coefficients per class. See dft.ts. */
import {
  addProductIm,
  addProductRe,
  multiplyAdd,
  multiplySubtract,
  productIm,
  productRe,
} from './dft-complex';
import { addClass16Im, addClass16Re, addPairs, selectClass } from './dft-entry';
import {
  APART_FACTORS,
  APART_FACTORS_SIZE,
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
  WORKSPACE,
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

/** Factors of a node: γ … γ⁴, as vectors and as the same value for all lanes. */
const LANE_NODE: usize = 128;
const NODE: usize = 32;

/** Positions that go through the entry and two levels together, 25 such groups at a time. */
const TILE: usize = 25;

const COS_72: f32 = 0.30901699437494745;
const COS_144: f32 = -0.8090169943749475;
const SIN_72: f32 = 0.9510565162951535;
/** sin 144° / sin 72°. */
const SIN_RATIO: f32 = 0.6180339887498949;

/** Both jobs of the pair of classes c. */
export function countPair5(c: usize): void {
  selectClass(c);
  const plusFactors = LANE_FACTORS + c * 2 * LANE_FACTORS_SIZE;
  const minusFactors = plusFactors + LANE_FACTORS_SIZE;
  for (let i: usize = 0; i < 625; i += TILE) {
    for (let row: usize = 0; row < 25; row++) {
      const tile = row * TILE * 32;
      addPairs(c, OFFSETS + ((i + row * 625) << 4), PLUS_TILE + tile, MINUS_TILE + tile, TILE);
    }
    splitTile(PLUS_TILE, plusFactors, PLUS + (i << 5));
    splitTile(MINUS_TILE, minusFactors, MINUS + (i << 5));
  }
  countJob(<i32>(c * 2), PLUS, 25, 4, c == 0);
  countJob(<i32>(c * 2 + 1), MINUS, 25, 4, c == 0);
}

/** The levels of m = 15625 and 3125 for TILE positions of each of the 25 nodes below. */
function splitTile(tile: usize, factors: usize, target: usize): void {
  const node = TILE * 5 * 32;
  split5(tile, tile, node, node, TILE * 5, factors);
  for (let a: usize = 0; a < 5; a++) {
    const to = target + a * 3125 * 32;
    split5(tile + a * node, to, TILE * 32, 625 * 32, TILE, factors + (1 + a) * LANE_NODE);
  }
}

/**
 * Class 16, of 3125 coefficients for each of the residues 16 + 64t modulo 320: t = 0 … 3 in the lanes of
 * job 8, t = 4 in the first of job 9.
 */
export function countClass16In5(): void {
  takeApart(8);
  countJob(8, PLUS, 5, 4, false);
  takeApart(9);
  countJob(9, PLUS, 5, 1, false);
}

function takeApart(job: usize): void {
  const powers = APART_FACTORS + (job - 8) * APART_FACTORS_SIZE;
  for (let i: usize = 0; i < 3125; i++) {
    const p = CLASS_16 + (i << 2);
    let re = f32x4.splat(0);
    let im = re;
    for (let q: usize = 0; q < 5; q++) {
      const w = powers + (q << 5);
      re = addClass16Re(re, p + q * 12500, v128.load(w), v128.load(w, 16));
      im = addClass16Im(im, p + q * 12500, v128.load(w), v128.load(w, 16));
    }
    v128.store(PLUS + (i << 5), re);
    v128.store(PLUS + (i << 5), im, 16);
  }
  const factors = LANE_FACTORS + job * LANE_FACTORS_SIZE + LANE_NODE;
  split5(PLUS, PLUS, 625 * 32, 625 * 32, 625, factors);
}

/** The levels from m = 625 down, for the first `nodes` nodes of a job at `start`. */
function countJob(job: i32, start: usize, nodes: usize, lanes: i32, ownMirror: bool): void {
  const factors = LANE_FACTORS + <usize>job * LANE_FACTORS_SIZE;
  const twist = TWISTS + <usize>job * TWISTS_SIZE;
  startJob(job, start, lanes);
  for (let node: usize = 0; node < nodes; node++) {
    const p = start + node * 625 * 32;
    split5(p, p, 125 * 32, 125 * 32, 125, factors + (6 + node) * LANE_NODE);
    for (let a: usize = 0; a < 5; a++) count125(p + a * 125 * 32, node * 5 + a, twist);
  }
  finishJob(ownMirror);
}

/** From m = 125 on the lanes share their factors. */
function count125(p: usize, node: usize, twist: usize): void {
  twistAll(p, twist);
  splitShared(p, 25 * 32, 25, NODE_FACTORS_3 + node * NODE);
  for (let a: usize = 0; a < 5; a++) {
    splitShared(p + a * 25 * 32, 5 * 32, 5, NODE_FACTORS_2 + (node * 5 + a) * NODE);
  }
  countLeaves(p, NODE_FACTORS_1 + node * 25 * NODE);
}

function twistAll(start: usize, twist: usize): void {
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

/** A value of the tree, or for a leaf where it stands to the band. */
@inline
function put(leaf: bool, p: usize, re: v128, im: v128): void {
  if (leaf) {
    v128.store(p, aboveLow(re, im, lowThreshold()));
  } else {
    v128.store(p, re);
    v128.store(p, im, 16);
  }
}

/**
 * One butterfly, from b_j = γ^j a_j to Σ_j b_j e^(−2πi jq/5) for q = 0 … 4, with the factors at `f`:
 * vectors, or single values when `shared`. A difference x − y is made of x and x + y.
 */
@inline
function butterfly(
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
  const two = f32x4.splat(2);
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
  // s = b_1 + b_4, d = b_4 − b_1.
  const sRe = addProductRe(tRe, xRe, xIm, gRe, gIm);
  const sIm = addProductIm(tIm, xRe, xIm, gRe, gIm);
  const dRe = multiplySubtract(tRe, two, sRe);
  const dIm = multiplySubtract(tIm, two, sIm);
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
  // s' = b_2 + b_3, d' = b_3 − b_2.
  const s2Re = addProductRe(tRe, xRe, xIm, gRe, gIm);
  const s2Im = addProductIm(tIm, xRe, xIm, gRe, gIm);
  const d2Re = multiplySubtract(tRe, two, s2Re);
  const d2Im = multiplySubtract(tIm, two, s2Im);
  const yRe = v128.load(a0);
  const yIm = v128.load(a0, 16);
  put(leaf, b0, f32x4.add(yRe, f32x4.add(sRe, s2Re)), f32x4.add(yIm, f32x4.add(sIm, s2Im)));

  const cos72 = f32x4.splat(COS_72);
  const cos144 = f32x4.splat(COS_144);
  const sin72 = f32x4.splat(SIN_72);
  const ratio = f32x4.splat(SIN_RATIO);
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
 * Splits a node: its fifths are `fifth` bytes apart at `from`, the remainders `toFifth` bytes apart at
 * `to`, which may be the same place. `count` butterflies.
 */
function split5(
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
      false, false, factors, a, a + fifth, a2, a2 + fifth, a2 + fifth * 2,
      b, b + toFifth, b2, b2 + toFifth, b2 + toFifth * 2,
    );
  }
}

/** As `split5` in place, with factors shared by the lanes. */
@inline
function splitShared(from: usize, fifth: usize, count: usize, factors: usize): void {
  const end = from + (count << 5);
  for (let a = from; a < end; a += 32) {
    const a2 = a + fifth * 2;
    const a3 = a2 + fifth;
    const a4 = a3 + fifth;
    butterfly(true, false, factors, a, a + fifth, a2, a3, a4, a, a + fifth, a2, a3, a4);
  }
}

/** The level of m = 5 of 25 nodes: the values of 125 bins, which are compared and not kept. */
function countLeaves(start: usize, factors: usize): void {
  const v = WORKSPACE;
  let below = i8x16.splat(0);
  let belowLast = i32x4.splat(0);
  let nearest = i32x4.splat(-1);
  let highest = highestSoFar();
  const end = start + 125 * 32;
  for (let p = start, f = factors; p < end; p += 160, f += NODE) {
    butterfly(
      true, true, f, p, p + 32, p + 64, p + 96, p + 128, v, v + 16, v + 32, v + 48, v + 64,
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
  if (isInBand(nearest)) scanLeaves(start, factors);
  else tally(below, belowLast);
}

/** As `countLeaves`, by keeping the values. */
function scanLeaves(start: usize, factors: usize): void {
  const end = start + 125 * 32;
  for (let p = start, f = factors; p < end; p += 160, f += NODE) {
    butterfly(
      true, false, f, p, p + 32, p + 64, p + 96, p + 128, p, p + 32, p + 64, p + 96, p + 128,
    );
  }
  scan(start, 125);
}

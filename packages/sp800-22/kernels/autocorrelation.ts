/**
 * Autocorrelation at the lags 1 to N = 2^16. A supplement: not part of SP 800-22.
 *
 * The sequence is cut into blocks of N bits. With U_j the transform of block j, ±1 and N zeros behind it, the sums are the
 * coefficients of the inverse transform of
 *
 *     R_k = Σ_j conj(U_j) · (U_j + (−1)^k U_(j+1)),
 *
 * because block j meets itself and the next block, N places on. A transform of 2N places modulo x^(2N) − 1 splits into two
 * of N, modulo x^N − 1 (even bins) and x^N + 1 (odd bins), and the N zeros make both start from the same coefficients.
 *
 * Lanes. Each lane of a vector, and each of its real and imaginary parts, holds another block: slot s = 2·lane, or
 * 2·lane + 1 for the imaginary part, has the blocks s·G to s·G + G − 1 one after the other. The products of two such
 * numbers have the sum over both slots as real part, and no lane ever meets another. The caller adds the lanes.
 *
 * Tree. As in packages/sp800-22/src/tests/fourier.ts, a node x^4q − g⁴ has the children x^q − γ for the four γ⁴ = g⁴, and g
 * depends only on the number of the node. The result is in bit-reversed order, which the inverse takes.
 *
 * Single precision is enough: the sums are integers of known parity, and the error is below 0.5 for any sequence of 2^20
 * bits (measured, below 0.01 for random ones).
 */
import {
  addProductIm,
  addProductRe,
  multiplyAdd,
  multiplySubtract,
  productIm,
  productRe,
} from './dft-complex';
import { INPUT } from './memory';

const N: i32 = 1 << 16;
const VECTORS: usize = (<usize>N) << 5;

/** For each node of the tree, g, g² and g³: 24 bytes. The last level has 2^15 nodes. They are at `base`. */
const FACTORS_SIZE: usize = 24 << 15;
/** Two transforms, R, and the sums: first of the lanes of the even bins, then of the odd ones. */
const FIRST: usize = FACTORS_SIZE;
const SECOND: usize = FIRST + VECTORS;
const PRODUCTS: usize = SECOND + VECTORS;
export const AUTOCORRELATION_SUMS: usize = PRODUCTS + VECTORS;
/** Bytes that memory MUST have from `base` on. */
export const AUTOCORRELATION_SIZE: usize = AUTOCORRELATION_SUMS + ((<usize>N) << 3);

/**
 * Writes 2N times the coefficients of both halves to `base` + AUTOCORRELATION_SUMS, f32 each. The factors MUST be at
 * `base`, a multiple of 16 behind the sequence. Leaves no other trace of the sequence.
 */
export function correlate(n: i32, base: usize): void {
  const blocks = (n + N - 1) / N;
  const groups = (blocks + 7) / 8;
  for (let half = 0; half < 2; half++) {
    let here = base + FIRST;
    let next = base + SECOND;
    memory.fill(base + PRODUCTS, 0, VECTORS);
    fill(n, groups, 0, here);
    transform(here, N, half, base);
    for (let group = 0; group < groups; group++) {
      fill(n, groups, group + 1, next);
      transform(next, N, half, base);
      addProducts(base + PRODUCTS, here, next, half == 0 ? 1 : -1);
      const swapped = here;
      here = next;
      next = swapped;
    }
    invert(base + PRODUCTS, N, half, base);
    sumLanes(base + PRODUCTS, base + AUTOCORRELATION_SUMS + (<usize>half) * ((<usize>N) << 2));
  }
  memory.fill(base + FIRST, 0, AUTOCORRELATION_SUMS - FIRST);
}

/** Writes block s·groups + group of each slot s: ±1, and 0 beyond the sequence. */
function fill(n: i32, groups: i32, group: i32, target: usize): void {
  for (let part = 0; part < 2; part++) {
    const a = part * groups + group;
    const b = a + 2 * groups;
    const c = b + 2 * groups;
    const d = c + 2 * groups;
    const valid = i32x4.replace_lane(
      i32x4.replace_lane(
        i32x4.replace_lane(i32x4.splat(validBits(n, a)), 1, validBits(n, b)),
        2,
        validBits(n, c),
      ),
      3,
      validBits(n, d),
    );
    fillPart(blockStart(n, a), blockStart(n, b), blockStart(n, c), blockStart(n, d), valid, target + (part << 4));
  }
}

function validBits(n: i32, block: i32): i32 {
  return max(0, min(N, n - block * N));
}

/** Returns the address of a block, or of the first one if it is beyond the sequence, so that nothing else is read. */
function blockStart(n: i32, block: i32): usize {
  return block * N < n ? INPUT + (<usize>(block * N) >> 3) : INPUT;
}

function fillPart(a: usize, b: usize, c: usize, d: usize, valid: v128, target: usize): void {
  const minusOne = i32x4.splat(0xbf800000);
  const sign = i32x4.splat(0x80000000);
  for (let i: i32 = 0; i < N; i += 8) {
    const at = <usize>i >> 3;
    let bytes = i32x4.replace_lane(i32x4.splat(<i32>load<u8>(a + at)), 1, <i32>load<u8>(b + at));
    bytes = i32x4.replace_lane(bytes, 2, <i32>load<u8>(c + at));
    bytes = i32x4.replace_lane(bytes, 3, <i32>load<u8>(d + at));
    // Bit by bit becomes the sign: +1 for a one.
    bytes = i32x4.shl(bytes, 24);
    for (let bit: i32 = 0; bit < 8; bit++) {
      const one = v128.and(i32x4.shl(bytes, 7 - bit), sign);
      const within = i32x4.gt_s(valid, i32x4.splat(i + bit));
      v128.store(target + ((<usize>(i + bit)) << 5), v128.and(v128.xor(minusOne, one), within));
    }
  }
}

/** Nodes of at most this many coefficients, 32 KiB, are finished level by level; larger ones child by child. */
const IN_CACHE: i32 = 1024;

/** Takes the `count` coefficients of a node down to single ones. */
function transform(start: usize, count: i32, node: i32, factors: usize): void {
  if (count <= IN_CACHE) {
    let nodes = 1;
    for (let size = count; size >= 4; size >>= 2) {
      for (let i = 0; i < nodes; i++) {
        split(start + ((<usize>(i * size)) << 5), size, factorsOf(factors, node * nodes + i));
      }
      nodes <<= 2;
    }
    return;
  }
  split(start, count, factorsOf(factors, node));
  const quarter = count >> 2;
  for (let child = 0; child < 4; child++) {
    transform(start + ((<usize>(child * quarter)) << 5), quarter, 4 * node + child, factors);
  }
}

/** Undoes `transform`, times `count`. */
function invert(start: usize, count: i32, node: i32, factors: usize): void {
  if (count <= IN_CACHE) {
    let nodes = count >> 2;
    for (let size = 4; size <= count; size <<= 2) {
      for (let i = 0; i < nodes; i++) {
        join(start + ((<usize>(i * size)) << 5), size, factorsOf(factors, node * nodes + i));
      }
      nodes >>= 2;
    }
    return;
  }
  const quarter = count >> 2;
  for (let child = 0; child < 4; child++) {
    invert(start + ((<usize>(child * quarter)) << 5), quarter, 4 * node + child, factors);
  }
  join(start, count, factorsOf(factors, node));
}

@inline
function factorsOf(factors: usize, node: i32): usize {
  return factors + <usize>node * 24;
}

/** Splits a node: with t_j = g^j a_j, c = a_0 + t_2 ± (t_1 + t_3) and a_0 − t_2 ∓ i (t_1 − t_3). */
@inline
function split(start: usize, count: i32, g: usize): void {
  const step = (<usize>count >> 2) << 5;
  const end = start + step;
  const g1Re = v128.load32_splat(g);
  const g1Im = v128.load32_splat(g, 4);
  const g2Re = v128.load32_splat(g, 8);
  const g2Im = v128.load32_splat(g, 12);
  const g3Re = v128.load32_splat(g, 16);
  const g3Im = v128.load32_splat(g, 20);
  for (let p = start; p < end; p += 32) {
    const p1 = p + step;
    const p2 = p1 + step;
    const p3 = p2 + step;
    const a0Re = v128.load(p);
    const a0Im = v128.load(p, 16);
    let xRe = v128.load(p1);
    let xIm = v128.load(p1, 16);
    const t1Re = productRe(xRe, xIm, g1Re, g1Im);
    const t1Im = productIm(xRe, xIm, g1Re, g1Im);
    xRe = v128.load(p3);
    xIm = v128.load(p3, 16);
    const t3Re = productRe(xRe, xIm, g3Re, g3Im);
    const t3Im = productIm(xRe, xIm, g3Re, g3Im);
    xRe = v128.load(p2);
    xIm = v128.load(p2, 16);
    const uRe = addProductRe(a0Re, xRe, xIm, g2Re, g2Im);
    const uIm = addProductIm(a0Im, xRe, xIm, g2Re, g2Im);
    const vRe = f32x4.sub(f32x4.add(a0Re, a0Re), uRe);
    const vIm = f32x4.sub(f32x4.add(a0Im, a0Im), uIm);
    const sRe = f32x4.add(t1Re, t3Re);
    const sIm = f32x4.add(t1Im, t3Im);
    const dRe = f32x4.sub(t1Re, t3Re);
    const dIm = f32x4.sub(t1Im, t3Im);
    v128.store(p, f32x4.add(uRe, sRe));
    v128.store(p, f32x4.add(uIm, sIm), 16);
    v128.store(p1, f32x4.sub(uRe, sRe));
    v128.store(p1, f32x4.sub(uIm, sIm), 16);
    v128.store(p2, f32x4.add(vRe, dIm));
    v128.store(p2, f32x4.sub(vIm, dRe), 16);
    v128.store(p3, f32x4.sub(vRe, dIm));
    v128.store(p3, f32x4.add(vIm, dRe), 16);
  }
}

/** Undoes `split`, times four. */
@inline
function join(start: usize, count: i32, g: usize): void {
  const step = (<usize>count >> 2) << 5;
  const end = start + step;
  const g1Re = v128.load32_splat(g);
  const g1Im = v128.load32_splat(g, 4);
  const g2Re = v128.load32_splat(g, 8);
  const g2Im = v128.load32_splat(g, 12);
  const g3Re = v128.load32_splat(g, 16);
  const g3Im = v128.load32_splat(g, 20);
  for (let p = start; p < end; p += 32) {
    const p1 = p + step;
    const p2 = p1 + step;
    const p3 = p2 + step;
    const c0Re = v128.load(p);
    const c0Im = v128.load(p, 16);
    const c1Re = v128.load(p1);
    const c1Im = v128.load(p1, 16);
    const c2Re = v128.load(p2);
    const c2Im = v128.load(p2, 16);
    const c3Re = v128.load(p3);
    const c3Im = v128.load(p3, 16);
    const uRe = f32x4.add(c0Re, c1Re);
    const uIm = f32x4.add(c0Im, c1Im);
    const vRe = f32x4.add(c2Re, c3Re);
    const vIm = f32x4.add(c2Im, c3Im);
    const sRe = f32x4.sub(c0Re, c1Re);
    const sIm = f32x4.sub(c0Im, c1Im);
    // i times c_2 − c_3.
    const dRe = f32x4.sub(c3Im, c2Im);
    const dIm = f32x4.sub(c2Re, c3Re);
    v128.store(p, f32x4.add(uRe, vRe));
    v128.store(p, f32x4.add(uIm, vIm), 16);
    storeUnrotated(p1, f32x4.add(sRe, dRe), f32x4.add(sIm, dIm), g1Re, g1Im);
    storeUnrotated(p2, f32x4.sub(uRe, vRe), f32x4.sub(uIm, vIm), g2Re, g2Im);
    storeUnrotated(p3, f32x4.sub(sRe, dRe), f32x4.sub(sIm, dIm), g3Re, g3Im);
  }
}

/** Stores x · conj(g). */
@inline
function storeUnrotated(p: usize, xRe: v128, xIm: v128, gRe: v128, gIm: v128): void {
  v128.store(p, multiplyAdd(xIm, gIm, f32x4.mul(xRe, gRe)));
  v128.store(p, multiplySubtract(xRe, gIm, f32x4.mul(xIm, gRe)), 16);
}

/** Adds conj(here) · (here + sign · next). */
function addProducts(products: usize, here: usize, next: usize, sign: f32): void {
  const signs = f32x4.splat(sign);
  for (let at: usize = 0; at < VECTORS; at += 32) {
    const zRe = v128.load(here + at);
    const zIm = v128.load(here + at, 16);
    const tRe = multiplyAdd(signs, v128.load(next + at), zRe);
    const tIm = multiplyAdd(signs, v128.load(next + at, 16), zIm);
    const p = products + at;
    v128.store(p, multiplyAdd(zIm, tIm, multiplyAdd(zRe, tRe, v128.load(p))));
    v128.store(p, multiplySubtract(zIm, tRe, multiplyAdd(zRe, tIm, v128.load(p, 16))), 16);
  }
}

/** Writes the sums of the lanes of the real parts. */
function sumLanes(products: usize, target: usize): void {
  for (let at: usize = 0; at < VECTORS; at += 32) {
    const re = v128.load(products + at);
    const pairs = f32x4.add(re, v128.shuffle<u32>(re, re, 2, 3, 0, 1));
    const sum = f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
    store<f32>(target + (at >> 3), sum);
  }
}

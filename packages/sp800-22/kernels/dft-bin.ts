/** One bin of the transform in double precision, for bins that f32 cannot distinguish from T. */
import { BIN_ROTATIONS, BIN_SUMS, BIN_SUMS_SIZE } from './dft-memory';
import { INPUT } from './memory';

/** Bits per step: four bytes, each with its table of sums. */
const GROUP = 32;
/** Parts of the sequence that are processed side by side, to hide the latency of each. */
const PARTS = 8;

/**
 * Returns |S_k|² of the `n` bits, a multiple of 32. `BIN_ROTATIONS` MUST hold, as pairs of f64, W^(kj) for
 * j = 0 … 31, then W^(32k), then W^(32kL), L = ⌊n / 32 / 8⌋.
 *
 * S_k = Σ_g s(group g) W^(32kg) by Horner's rule, from the last group to the first.
 */
export function binSquared(n: usize): f64 {
  for (let byte: usize = 0; byte < 4; byte++) tabulateSums(byte);
  const groups = n / GROUP;
  const length = groups / PARTS;
  const part = length << 2;
  const wRe = f64x2.splat(load<f64>(BIN_ROTATIONS, 512));
  const wIm = timesI(load<f64>(BIN_ROTATIONS, 520));
  let s0 = f64x2.splat(0);
  let s1 = s0;
  let s2 = s0;
  let s3 = s0;
  let s4 = s0;
  let s5 = s0;
  let s6 = s0;
  let s7 = s0;
  // The last part has the remaining groups.
  for (let p = INPUT + ((groups - 1) << 2); p >= INPUT + part * PARTS; p -= 4) {
    s7 = f64x2.add(rotate(s7, wRe, wIm), sumOf(p));
  }
  for (let p = INPUT + part - 4; p >= INPUT; p -= 4) {
    s0 = f64x2.add(rotate(s0, wRe, wIm), sumOf(p));
    s1 = f64x2.add(rotate(s1, wRe, wIm), sumOf(p + part));
    s2 = f64x2.add(rotate(s2, wRe, wIm), sumOf(p + part * 2));
    s3 = f64x2.add(rotate(s3, wRe, wIm), sumOf(p + part * 3));
    s4 = f64x2.add(rotate(s4, wRe, wIm), sumOf(p + part * 4));
    s5 = f64x2.add(rotate(s5, wRe, wIm), sumOf(p + part * 5));
    s6 = f64x2.add(rotate(s6, wRe, wIm), sumOf(p + part * 6));
    s7 = f64x2.add(rotate(s7, wRe, wIm), sumOf(p + part * 7));
  }
  const vRe = f64x2.splat(load<f64>(BIN_ROTATIONS, 528));
  const vIm = timesI(load<f64>(BIN_ROTATIONS, 536));
  let s = f64x2.add(rotate(s7, vRe, vIm), s6);
  s = f64x2.add(rotate(s, vRe, vIm), s5);
  s = f64x2.add(rotate(s, vRe, vIm), s4);
  s = f64x2.add(rotate(s, vRe, vIm), s3);
  s = f64x2.add(rotate(s, vRe, vIm), s2);
  s = f64x2.add(rotate(s, vRe, vIm), s1);
  s = f64x2.add(rotate(s, vRe, vIm), s0);
  const squares = f64x2.mul(s, s);
  return f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1);
}

/** Writes Σ ±W^(kj) over the bits of each value of byte `index`, from the sum for the value without its lowest one. */
function tabulateSums(index: usize): void {
  const rotations = BIN_ROTATIONS + (index << 7);
  const sums = BIN_SUMS + index * BIN_SUMS_SIZE;
  let ofZeros = f64x2.splat(0);
  for (let j: usize = 0; j < 8; j++) ofZeros = f64x2.sub(ofZeros, v128.load(rotations + (j << 4)));
  v128.store(sums, ofZeros);
  for (let byte: usize = 1; byte < 256; byte++) {
    const rotation = v128.load(rotations + (ctz(byte) << 4));
    const rest = v128.load(sums + ((byte & (byte - 1)) << 4));
    v128.store(sums + (byte << 4), f64x2.add(rest, f64x2.add(rotation, rotation)));
  }
}

/** Returns s of the group at `p`. */
@inline
function sumOf(p: usize): v128 {
  const bits = <usize>load<u32>(p);
  const s0 = v128.load((bits << 4) & 0xff0, BIN_SUMS);
  const s1 = v128.load((bits >> 4) & 0xff0, BIN_SUMS + BIN_SUMS_SIZE);
  const s2 = v128.load((bits >> 12) & 0xff0, BIN_SUMS + 2 * BIN_SUMS_SIZE);
  const s3 = v128.load((bits >> 20) & 0xff0, BIN_SUMS + 3 * BIN_SUMS_SIZE);
  return f64x2.add(f64x2.add(s0, s1), f64x2.add(s2, s3));
}

/** Returns the imaginary factor of `rotate`: −y, y. */
@inline
function timesI(y: f64): v128 {
  return f64x2.replace_lane(f64x2.splat(-y), 1, y);
}

/** Returns the complex product s·w. */
@inline
function rotate(s: v128, wRe: v128, wIm: v128): v128 {
  const exchanged = v128.shuffle<u64>(s, s, 1, 0);
  return f64x2.add(f64x2.mul(s, wRe), f64x2.mul(exchanged, wIm));
}

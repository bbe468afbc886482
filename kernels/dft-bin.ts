/** One bin of the transform in double precision, for those that f32 cannot tell from T. */
import { BIN_ROTATIONS, BIN_SUMS } from './dft-memory';
import { INPUT } from './memory';

/**
 * |S_k|² of the `n` bits, a multiple of 64. `BIN_ROTATIONS` MUST hold, as pairs of f64, W^(kj) for
 * j = 0 … 7, then W^(8k), then W^(kn/8).
 *
 * S_k = Σ_b s(byte_b) W^(8kb), where s is a table of 256 sums. Eight eighths of the sequence go side by
 * side, by Horner's rule, so that one's latency hides behind the others.
 */
export function binSquared(n: usize): f64 {
  tabulateSums();
  const eighth = n >> 6;
  const wRe = f64x2.splat(load<f64>(BIN_ROTATIONS, 128));
  const wIm = timesI(load<f64>(BIN_ROTATIONS, 136));
  let s0 = f64x2.splat(0);
  let s1 = s0;
  let s2 = s0;
  let s3 = s0;
  let s4 = s0;
  let s5 = s0;
  let s6 = s0;
  let s7 = s0;
  for (let p = INPUT + eighth - 1; p >= INPUT; p--) {
    s0 = f64x2.add(rotate(s0, wRe, wIm), sumOf(p));
    s1 = f64x2.add(rotate(s1, wRe, wIm), sumOf(p + eighth));
    s2 = f64x2.add(rotate(s2, wRe, wIm), sumOf(p + eighth * 2));
    s3 = f64x2.add(rotate(s3, wRe, wIm), sumOf(p + eighth * 3));
    s4 = f64x2.add(rotate(s4, wRe, wIm), sumOf(p + eighth * 4));
    s5 = f64x2.add(rotate(s5, wRe, wIm), sumOf(p + eighth * 5));
    s6 = f64x2.add(rotate(s6, wRe, wIm), sumOf(p + eighth * 6));
    s7 = f64x2.add(rotate(s7, wRe, wIm), sumOf(p + eighth * 7));
  }
  const vRe = f64x2.splat(load<f64>(BIN_ROTATIONS, 144));
  const vIm = timesI(load<f64>(BIN_ROTATIONS, 152));
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

/** s(byte) = Σ_j ±W^(kj): from that of the byte without its lowest one. */
function tabulateSums(): void {
  let all = f64x2.splat(0);
  for (let j: usize = 0; j < 8; j++) all = f64x2.sub(all, v128.load(BIN_ROTATIONS + (j << 4)));
  v128.store(BIN_SUMS, all);
  for (let byte: usize = 1; byte < 256; byte++) {
    const rotation = v128.load(BIN_ROTATIONS + (ctz(byte) << 4));
    const rest = v128.load(BIN_SUMS + ((byte & (byte - 1)) << 4));
    v128.store(BIN_SUMS + (byte << 4), f64x2.add(rest, f64x2.add(rotation, rotation)));
  }
}

@inline
function sumOf(p: usize): v128 {
  return v128.load(<usize>load<u8>(p) << 4, BIN_SUMS);
}

/** The factor −y, y of `rotate`. */
@inline
function timesI(y: f64): v128 {
  return f64x2.replace_lane(f64x2.splat(-y), 1, y);
}

/** The complex product s·w. */
@inline
function rotate(s: v128, wRe: v128, wIm: v128): v128 {
  const exchanged = v128.shuffle<u64>(s, s, 1, 0);
  return f64x2.add(f64x2.mul(s, wRe), f64x2.mul(exchanged, wIm));
}

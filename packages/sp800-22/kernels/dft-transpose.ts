/**
 * Turns the sequence into the table rows of each position: the first step of dft-entry.ts.
 */
import { OFFSETS, WORDS, WORKSPACE } from './dft-memory';
import { INPUT } from './memory';

/** Rows of the transposition: bit i of row r is bit i + r·n/16 of the sequence. */
const ROWS = 16;
/** Positions per transposition. */
const BLOCK = 128;

/**
 * Fills `WORDS`: bit j of word i is bit i + j·n/16 of the sequence. It writes whole blocks, so up to
 * 127 words after the last hold bits of other positions. n/16 MUST be a multiple of 4.
 */
export function transposeBits(n: usize): void {
  if (n % 128 == 0) transposeFromBytes(n / ROWS);
  else transposeFromHalfBytes(n / ROWS);
}

function transposeFromBytes(positions: usize): void {
  for (let i: usize = 0; i < positions; i += BLOCK) {
    transposeRows(i, positions, WORKSPACE, false);
    transposeRows(i + positions * 8, positions, WORKSPACE + 16, false);
    shuffleBytes(WORDS + (i << 1));
  }
}

/** Transposes if every other row begins in the middle of a byte. */
function transposeFromHalfBytes(positions: usize): void {
  for (let i: usize = 0; i < positions; i += BLOCK) {
    transposeRows(i, positions, WORKSPACE, true);
    transposeRows(i + positions * 8, positions, WORKSPACE + 16, true);
    shuffleBytes(WORDS + (i << 1));
  }
}

/** Returns 128 bits from bit `i` on. `i` MUST be a multiple of 8, or of 4 with `halfByte`. */
@inline
function rowAt(i: usize, halfByte: bool): v128 {
  const p = INPUT + (i >> 3);
  return halfByte
    ? v128.or(i64x2.shr_u(v128.load(p), 4), i64x2.shl(v128.load(p, 1), 4))
    : v128.load(p);
}

/** Returns the bits in which b and the shifted a differ. */
@inline
function swapMask(a: v128, b: v128, shift: i32, mask: v128): v128 {
  return v128.and(v128.xor(i64x2.shr_u(a, shift), b), mask);
}

/**
 * Transposes 8 rows of 128 bits, from bit `i` on and `distance` bits apart, in blocks of 8 × 8:
 * byte b of the k-th vector at `target` (32 bytes apart) has the bits of position 8b + k. Each step
 * exchanges one bit of the row number with one of the position.
 */
@inline
function transposeRows(i: usize, distance: usize, target: usize, halfBytes: bool): void {
  let a0 = rowAt(i, false);
  let a1 = rowAt(i + distance, halfBytes);
  let a2 = rowAt(i + distance * 2, false);
  let a3 = rowAt(i + distance * 3, halfBytes);
  let a4 = rowAt(i + distance * 4, false);
  let a5 = rowAt(i + distance * 5, halfBytes);
  let a6 = rowAt(i + distance * 6, false);
  let a7 = rowAt(i + distance * 7, halfBytes);

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

/** Transposes the 16 × 16 bytes of `WORKSPACE`: rotates the 8-bit index of each by four. */
@inline
function shuffleBytes(target: usize): void {
  shuffle(WORKSPACE, WORKSPACE + 256);
  shuffle(WORKSPACE + 256, WORKSPACE);
  shuffle(WORKSPACE, WORKSPACE + 256);
  shuffle(WORKSPACE + 256, target);
}

/** Rotates the index of each of 256 bytes by one bit. */
@inline
function shuffle(from: usize, to: usize): void {
  for (let i: usize = 0; i < 8; i++) {
    const a = v128.load(from + (i << 4));
    const b = v128.load(from + (i << 4), 128);
    const p = to + (i << 5);
    v128.store(p, v128.shuffle<u8>(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    v128.store(
      p,
      v128.shuffle<u8>(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
      16,
    );
  }
}

/**
 * Fills `OFFSETS` from `WORDS`: for position i < m and q = 0 … 3 the two bytes of word i + qm, each
 * as the offset of its row. It handles eight positions at once, so it writes up to 7 after the last.
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

/** Writes two positions. A row has 32 bytes. */
@inline
function storeOffsets(p: usize, bytes: v128): void {
  v128.store(p, i16x8.shl(i16x8.extend_low_i8x16_u(bytes), 5));
  v128.store(p, i16x8.shl(i16x8.extend_high_i8x16_u(bytes), 5), 16);
}

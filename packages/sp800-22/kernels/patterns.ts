/**
 * Overlapping patterns of the sequence closed to a ring, for the serial test and approximate entropy.
 * SP 800-22 Rev. 1a §2.11, §2.12. Bit 0 of a pattern is its first bit.
 *
 * ν_m counts the patterns of m bits. Windows of 19 bits, one at every fourth bit, hold four of 16 bits
 * each. That takes a quarter of the increments, in bytes; sums give all shorter patterns.
 */
import { bitsAt, sumOfLanes } from './bits';
import { INPUT, PATTERNS, PATTERNS_END, SQUARES } from './memory';

/** u32 ν_11, by the pattern with its first bit highest. */
export const PATTERN_COUNTS: usize = PATTERNS;
/** u16 sums on the way to ν_11. */
const COUNTS_11: usize = PATTERNS + 0x2000;
/** u8 windows of 17 bits, one at every second bit. */
const COUNTS_17: usize = PATTERNS + 0x4000;
/** u8 windows of 19 bits. If needed, u32 ν_16 take the same place. */
const COUNTS_19: usize = PATTERNS + 0x24000;
const COUNTS_16: usize = COUNTS_19;

// A mistake in the sizes above is a compile-time error.
if (COUNTS_19 + (1 << 19) > PATTERNS_END) ERROR('the patterns need more memory than they have');

const PATTERNS_11: usize = 1 << 11;
const PATTERNS_14: usize = 1 << 14;
const PATTERNS_16: usize = 1 << 16;
const PATTERNS_17: usize = 1 << 17;
const PATTERNS_19: usize = 1 << 19;

/** Up to this length no sum of squares of `countFast` exceeds 2^32, because each ν_14 is at most 16 · 255. */
const FAST_MAXIMUM: i32 = 1 << 20;

/** Writes Σ ν² for 16, 15 and 14 bits, and ν_11. */
export function countPatterns(n: i32): void {
  closeRing(n);
  if (n > FAST_MAXIMUM || (n & 3) != 0 || !countFast(n)) countWide(n);
  openRing(n);
}

/** Copies the first bits after the last, because a window extends 18 bits beyond it. */
export function closeRing(n: i32): void {
  const p = INPUT + (<usize>n >> 3);
  store<u64>(p, load<u64>(p) | (load<u64>(INPUT) << (<u64>n & 7)));
}

/** Restores the zeros after the sequence. */
export function openRing(n: i32): void {
  const p = INPUT + (<usize>n >> 3);
  store<u64>(p, load<u64>(p) & (((<u64>1) << (<u64>n & 7)) - 1));
}

/** Counts for n a multiple of four. Returns false if a byte overflowed, which random bits never cause. */
function countFast(n: i32): bool {
  let p = INPUT;
  let left = n >> 2;
  for (; left >= 8; left -= 8) {
    const word = load<u64>(p);
    increment19(word);
    increment19(word >> 4);
    increment19(word >> 8);
    increment19(word >> 12);
    increment19(word >> 16);
    increment19(word >> 20);
    increment19(word >> 24);
    increment19(word >> 28);
    p += 4;
  }
  let word = load<u64>(p);
  for (; left > 0; left--) {
    increment19(word);
    word >>= 4;
  }
  fold19to17();
  return fold17() == n;
}

@inline
function increment19(word: u64): void {
  const p = <usize>word & (PATTERNS_19 - 1);
  store<u8>(p, load<u8>(p, COUNTS_19) + 1, COUNTS_19);
}

/** Folds the counts: a window of 19 bits holds one of 17 in its low bits and, two bits on, one in its high bits. */
function fold19to17(): void {
  for (let pattern: usize = 0; pattern < PATTERNS_17; pattern += 16) {
    const above = COUNTS_19 + pattern;
    const below = COUNTS_19 + (pattern << 2);
    const a = i8x16.add(v128.load(above), v128.load(above, PATTERNS_17));
    const b = i8x16.add(v128.load(above, 2 * PATTERNS_17), v128.load(above, 3 * PATTERNS_17));
    const ab = i16x8.narrow_i32x4_u(sumsOfFour(below), sumsOfFour(below + 16));
    const cd = i16x8.narrow_i32x4_u(sumsOfFour(below + 32), sumsOfFour(below + 48));
    const sums = i8x16.add(i8x16.add(a, b), i8x16.narrow_i16x8_u(ab, cd));
    v128.store(COUNTS_17 + pattern, sums);
  }
}

@inline
function sumsOfFour(p: usize): v128 {
  return i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(v128.load(p)));
}

/**
 * Turns windows of 17 bits into the results. ν_16 of a pattern is the sum of its two continuations by a
 * bit above and its two by a bit below. The four patterns with equal low 14 bits are handled together,
 * because their sums are ν_15 and ν_14. Returns Σ ν_14, which is n unless a byte overflowed.
 */
function fold17(): i32 {
  let squares16 = i32x4.splat(0);
  let squares15 = i32x4.splat(0);
  let squares14 = i32x4.splat(0);
  let total = i32x4.splat(0);
  const one = i16x8.splat(1);
  for (let pattern: usize = 0; pattern < PATTERNS_14; pattern += 8) {
    const a = nu16(pattern);
    const b = nu16(pattern + PATTERNS_14);
    const c = nu16(pattern + 2 * PATTERNS_14);
    const d = nu16(pattern + 3 * PATTERNS_14);
    squares16 = i32x4.add(squares16, i32x4.add(square(a), square(b)));
    squares16 = i32x4.add(squares16, i32x4.add(square(c), square(d)));
    const ac = i16x8.add(a, c);
    const bd = i16x8.add(b, d);
    squares15 = i32x4.add(squares15, i32x4.add(square(ac), square(bd)));
    const nu14 = i16x8.add(ac, bd);
    squares14 = i32x4.add(squares14, square(nu14));
    total = i32x4.add(total, i32x4.dot_i16x8_s(nu14, one));
    const p = COUNTS_11 + ((pattern & (PATTERNS_11 - 1)) << 1);
    v128.store(p, i16x8.add(v128.load(p), nu14));
  }
  store<f64>(SQUARES, <f64>sumOfLanes(squares16));
  store<f64>(SQUARES, <f64>sumOfLanes(squares15), 8);
  store<f64>(SQUARES, <f64>sumOfLanes(squares14), 16);
  let reversed: usize = 0;
  for (let pattern: usize = 0; pattern < PATTERNS_11; pattern++) {
    store<u32>(PATTERN_COUNTS + (reversed << 2), load<u16>(COUNTS_11 + (pattern << 1)));
    reversed = nextReversed(reversed);
  }
  return sumOfLanes(total);
}

/** Returns i + 1 in reverse order of the 11 bits: the carry runs down. */
@inline
function nextReversed(i: usize): usize {
  let bit = PATTERNS_11 >> 1;
  while (i & bit) {
    i ^= bit;
    bit >>= 1;
  }
  return i | bit;
}

/** Returns ν_16 of eight neighbouring patterns. */
@inline
function nu16(pattern: usize): v128 {
  const above = COUNTS_17 + pattern;
  const below = COUNTS_17 + (pattern << 1);
  const continued = i16x8.add(v128.load_ext<u8>(above), v128.load_ext<u8>(above, PATTERNS_16));
  return i16x8.add(continued, i16x8.extadd_pairwise_i8x16_u(v128.load(below)));
}

@inline
function square(counts: v128): v128 {
  return i32x4.dot_i16x8_s(counts, counts);
}

/** Counts for any n and any counts: ν_16 one by one, u32. */
function countWide(n: i32): void {
  memory.fill(PATTERN_COUNTS, 0, PATTERNS_11 << 2);
  memory.fill(COUNTS_16, 0, PATTERNS_16 << 2);
  for (let i: i32 = 0; i < n; i++) {
    const p = COUNTS_16 + ((<usize>bitsAt(INPUT, <usize>i) & (PATTERNS_16 - 1)) << 2);
    store<u32>(p, load<u32>(p) + 1);
  }
  // n² fits a double up to n = 2^26.
  let squares16: u64 = 0;
  let squares15: u64 = 0;
  let squares14: u64 = 0;
  let reversed: usize = 0;
  for (let pattern: usize = 0; pattern < PATTERNS_14; pattern++) {
    const p = COUNTS_16 + (pattern << 2);
    const a = <u64>load<u32>(p);
    const b = <u64>load<u32>(p, PATTERNS_14 << 2);
    const c = <u64>load<u32>(p, PATTERNS_14 << 3);
    const d = <u64>load<u32>(p, (PATTERNS_14 << 2) * 3);
    squares16 += a * a + b * b + c * c + d * d;
    squares15 += (a + c) * (a + c) + (b + d) * (b + d);
    const nu14 = a + b + c + d;
    squares14 += nu14 * nu14;
    const q = PATTERN_COUNTS + (reversed << 2);
    store<u32>(q, load<u32>(q) + <u32>nu14);
    reversed = nextReversed(reversed);
  }
  store<f64>(SQUARES, <f64>squares16);
  store<f64>(SQUARES, <f64>squares15, 8);
  store<f64>(SQUARES, <f64>squares14, 16);
}

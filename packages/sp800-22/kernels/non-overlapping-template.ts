/**
 * Non-overlapping template matching, templates of nine bits. SP 800-22 Rev. 1a §2.7.
 *
 * An aperiodic template cannot overlap itself, so counts with and without overlaps are equal: one
 * histogram of all windows of nine bits serves all 148 templates. It is computed from windows of 14 bits,
 * one at every sixth bit, each of which holds six windows of nine.
 */
import { bitsAt, sumOfLanes } from './bits';
import { INPUT, TEMPLATES, TEMPLATES_END } from './memory';

const BLOCKS: usize = 8;
const PATTERNS_9: usize = 512;

/** u32 for each block and pattern; bit 0 of a pattern is its first bit. */
export const TEMPLATE_COUNTS: usize = TEMPLATES;
/** u8 for each pattern of 14 bits. */
const COUNTS_14: usize = TEMPLATE_COUNTS + BLOCKS * PATTERNS_9 * 4;
const PATTERNS_14: usize = 16_384;
/** u16 for each pattern of 11 bits. */
const COUNTS_11: usize = COUNTS_14 + PATTERNS_14;
const PATTERNS_11: usize = 2048;
// A mistake in the sizes above is a compile-time error.
if (COUNTS_11 + PATTERNS_11 * 2 > TEMPLATES_END) ERROR('templates need more memory than they have');

/** Writes the counts of each of the eight blocks of ⌊n / 8⌋ bits. */
export function countTemplates(n: i32): void {
  const M = n >> 3;
  for (let block: usize = 0; block < BLOCKS; block++) {
    countBlock(block * <usize>M, M - 8, TEMPLATE_COUNTS + block * PATTERNS_9 * 4);
  }
}

/** Counts the `windows` of nine bits that begin at bit `first` and after it. */
function countBlock(first: usize, windows: i32, counts: usize): void {
  const wide = windows / 6;
  count14(first, wide);
  const counted = fold14to11();
  if (counted == wide) {
    fold11to9(counts);
    count9(first + <usize>(wide * 6), windows - wide * 6, counts);
  } else {
    // A byte overflowed, which random bits never do.
    memory.fill(counts, 0, PATTERNS_9 * 4);
    count9(first, windows, counts);
  }
}

/** Counts windows one at a time. */
function count9(first: usize, windows: i32, counts: usize): void {
  for (let i: i32 = 0; i < windows; i++) {
    const p = counts + ((<usize>bitsAt(INPUT, first + <usize>i) & 511) << 2);
    store<u32>(p, load<u32>(p) + 1);
  }
}

/** Counts `windows` of 14 bits, six bits apart. Eight of them advance 56 bits. */
function count14(first: usize, windows: i32): void {
  memory.fill(COUNTS_14, 0, PATTERNS_14);
  let p = INPUT + (first >> 3);
  const shift = <u64>first & 7;
  let left = windows;
  for (; left >= 8; left -= 8) {
    const word = load<u64>(p) >> shift;
    increment14(word);
    increment14(word >> 6);
    increment14(word >> 12);
    increment14(word >> 18);
    increment14(word >> 24);
    increment14(word >> 30);
    increment14(word >> 36);
    increment14(word >> 42);
    p += 6;
  }
  let word = load<u64>(p) >> shift;
  for (; left > 0; left--) {
    increment14(word);
    word >>= 6;
  }
}

@inline
function increment14(word: u64): void {
  const p = <usize>word & (PATTERNS_14 - 1);
  store<u8>(p, load<u8>(p, COUNTS_14) + 1, COUNTS_14);
}

/**
 * Folds the counts: a window of 14 bits holds one of 11 in its low bits and, three bits on, one in its
 * high bits.
 * Returns the sum of all counts, which is less than the number of windows if a byte overflowed.
 */
function fold14to11(): i32 {
  let total = i32x4.splat(0);
  const one = i16x8.splat(1);
  for (let pattern: usize = 0; pattern < PATTERNS_11; pattern += 16) {
    const p = COUNTS_14 + pattern;
    let low = i16x8.splat(0);
    let high = i16x8.splat(0);
    for (let above: usize = 0; above < 8; above++) {
      const counts = v128.load(p + above * PATTERNS_11);
      low = i16x8.add(low, i16x8.extend_low_i8x16_u(counts));
      high = i16x8.add(high, i16x8.extend_high_i8x16_u(counts));
    }
    total = i32x4.add(total, i32x4.add(i32x4.dot_i16x8_s(low, one), i32x4.dot_i16x8_s(high, one)));
    const below = COUNTS_14 + (pattern << 3);
    const q = COUNTS_11 + (pattern << 1);
    v128.store(q, i16x8.add(low, sumsOfEight(below)));
    v128.store(q, i16x8.add(high, sumsOfEight(below + 64)), 16);
  }
  return sumOfLanes(total);
}

/** Folds the counts: a window of 11 bits holds windows of nine at its bits 0, 1 and 2. */
function fold11to9(counts: usize): void {
  for (let pattern: usize = 0; pattern < PATTERNS_9; pattern += 8) {
    const at0 = COUNTS_11 + (pattern << 1);
    const at1 = COUNTS_11 + (pattern << 2);
    const at2 = COUNTS_11 + (pattern << 3);
    // Four continuations above; one bit below and two continuations above; two bits below.
    let sum = i16x8.add(v128.load(at0), v128.load(at0, 1024));
    sum = i16x8.add(sum, i16x8.add(v128.load(at0, 2048), v128.load(at0, 3072)));
    const even = i16x8.add(v128.load(at1), v128.load(at1, 2048));
    const odd = i16x8.add(v128.load(at1, 16), v128.load(at1, 2064));
    sum = i16x8.add(sum, sumsOfPairs(even, odd));
    const low = sumsOfPairs(v128.load(at2), v128.load(at2, 16));
    const high = sumsOfPairs(v128.load(at2, 32), v128.load(at2, 48));
    sum = i16x8.add(sum, sumsOfPairs(low, high));
    const p = counts + (pattern << 2);
    v128.store(p, i32x4.extend_low_i16x8_u(sum));
    v128.store(p, i32x4.extend_high_i16x8_u(sum), 16);
  }
}

/** Returns the sums of neighbours of the sixteen u16 of a and b. */
@inline
function sumsOfPairs(a: v128, b: v128): v128 {
  return i16x8.add(
    v128.shuffle<u16>(a, b, 0, 2, 4, 6, 8, 10, 12, 14),
    v128.shuffle<u16>(a, b, 1, 3, 5, 7, 9, 11, 13, 15),
  );
}

/** Returns the sums of eight neighbours of the 64 bytes at `p`, as eight u16. */
@inline
function sumsOfEight(p: usize): v128 {
  const a = i16x8.extadd_pairwise_i8x16_u(v128.load(p));
  const b = i16x8.extadd_pairwise_i8x16_u(v128.load(p, 16));
  const c = i16x8.extadd_pairwise_i8x16_u(v128.load(p, 32));
  const d = i16x8.extadd_pairwise_i8x16_u(v128.load(p, 48));
  return sumsOfPairs(sumsOfPairs(a, b), sumsOfPairs(c, d));
}

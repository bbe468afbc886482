/**
 * Counts within windows, to find a piece of another source: packages/sp800-22/src/source-rule/scan.ts has the measures, and
 * what the counts mean.
 */
import { INPUT, SCAN_LEVELS, SCAN_TOTALS } from './memory';

/** Bits of the shortest window, and bytes of the results of a level: four arrays of sixteen i32. */
const WINDOW_SHIFT: i32 = 8;
const LEVEL_BYTES: usize = 256;
const PREVIOUS: usize = 0;
const DEVIATIONS: usize = 64;
const PLACES: usize = 128;
const COUNTS: usize = 192;

/** Counts all windows of 256, 512, 1024, … bits; those above the shortest overlap by half. */
export function scanWindows(n: i32): void {
  const windows = n >> WINDOW_SHIFT;
  let before: u64 = 0;
  let beforeThat: u64 = 0;
  for (let i = 0; i < windows; i++) {
    const p = INPUT + (<usize>i << (WINDOW_SHIFT - 3));
    countPlaces(p, i);
    countLags(p, before, beforeThat, i);
    before = load<u64>(p, 24);
    beforeThat = load<u64>(p, 16);
  }
}

/** Counts the bits of each of eight places in the 32 bytes of a window, the last place first: the highest bit of each byte. */
@inline
function countPlaces(p: usize, index: i32): void {
  const first = v128.load(p);
  const second = v128.load(p, 16);
  climb(0, fourPlaces(i8x16.shl(first, 4), i8x16.shl(second, 4)), index);
  climb(16, fourPlaces(first, second), index);
}

/** Returns the counts of the four highest bits of each byte, the lowest of them first. */
@inline
function fourPlaces(first: v128, second: v128): v128 {
  let one = first;
  let other = second;
  let counts = i32x4.splat(0);
  counts = i32x4.replace_lane(counts, 3, highest(one, other));
  one = i8x16.add(one, one);
  other = i8x16.add(other, other);
  counts = i32x4.replace_lane(counts, 2, highest(one, other));
  one = i8x16.add(one, one);
  other = i8x16.add(other, other);
  counts = i32x4.replace_lane(counts, 1, highest(one, other));
  one = i8x16.add(one, one);
  other = i8x16.add(other, other);
  return i32x4.replace_lane(counts, 0, highest(one, other));
}

/** Counts the highest bits of 32 bytes. */
@inline
function highest(one: v128, other: v128): i32 {
  return popcnt(i8x16.bitmask(one) | (i8x16.bitmask(other) << 16));
}

/** Counts the ones of a window, and the bits that differ from earlier ones. The two words before the sequence are zero. */
@inline
function countLags(p: usize, before: u64, beforeThat: u64, index: i32): void {
  const a = load<u64>(p);
  const b = load<u64>(p, 8);
  const c = load<u64>(p, 16);
  const d = load<u64>(p, 24);
  const ones = popcnt(a) + popcnt(b) + popcnt(c) + popcnt(d);
  const next = unlike(a, before, 1) + unlike(b, a, 1) + unlike(c, b, 1) + unlike(d, c, 1);
  const byWord = popcnt(a ^ before) + popcnt(b ^ a) + popcnt(c ^ b) + popcnt(d ^ c);
  const byTwo = popcnt(a ^ beforeThat) + popcnt(b ^ before) + popcnt(c ^ a) + popcnt(d ^ b);
  climb(32, four(ones, next, unlikeBytes(p, before, 1), unlikeBytes(p, before, 2)), index);
  climb(48, four(unlikeBytes(p, before, 3), unlikeBytes(p, before, 4), byWord, byTwo), index);
}

@inline
function four(first: u64, second: u64, third: u64, fourth: u64): v128 {
  let counts = i32x4.splat(<i32>first);
  counts = i32x4.replace_lane(counts, 1, <i32>second);
  counts = i32x4.replace_lane(counts, 2, <i32>third);
  return i32x4.replace_lane(counts, 3, <i32>fourth);
}

/** Counts the bits of `word` that differ from the bit `lag` places earlier. */
@inline
function unlike(word: u64, before: u64, lag: u64): u64 {
  return popcnt(word ^ ((word << lag) | (before >> (64 - lag))));
}

/** Counts the bits of a window that differ from those so many bytes earlier. Only the first word needs the one before the window. */
@inline
function unlikeBytes(p: usize, before: u64, bytes: usize): u64 {
  const words = p - bytes;
  return (
    unlike(load<u64>(p), before, <u64>bytes << 3) +
    popcnt(load<u64>(p, 8) ^ load<u64>(words, 8)) +
    popcnt(load<u64>(p, 16) ^ load<u64>(words, 16)) +
    popcnt(load<u64>(p, 24) ^ load<u64>(words, 24))
  );
}

/**
 * Notes the counts of a window at `index` in units of its length, for four measures, and each longer one that ends with it. Two windows
 * of one level in a row are a window of the next, and if the second has an odd index, one without overlap that goes on.
 */
function climb(lane: usize, first: v128, index: i32): void {
  v128.store(SCAN_TOTALS + lane, i32x4.add(v128.load(SCAN_TOTALS + lane), first));
  let count = first;
  let at = index;
  let level = SCAN_LEVELS + lane;
  let half = lane < 32 ? 16 : 128;
  note(level, count, half, at);
  for (;;) {
    const previous = v128.load(level, PREVIOUS);
    v128.store(level, count, PREVIOUS);
    if (at == 0) return;
    count = i32x4.add(previous, count);
    level += LEVEL_BYTES;
    half <<= 1;
    note(level, count, half, at - 1);
    if ((at & 1) == 0) return;
    at >>= 1;
  }
}

/** Keeps the window whose counts are farthest from half of its trials; the first of several. Few windows are. */
@inline
function note(level: usize, count: v128, half: i32, at: i32): void {
  const deviation = i32x4.abs(i32x4.sub(count, i32x4.splat(half)));
  const isLarger = i32x4.gt_s(deviation, v128.load(level, DEVIATIONS));
  if (v128.any_true(isLarger)) keep(level, count, deviation, isLarger, at);
}

function keep(level: usize, count: v128, deviation: v128, isLarger: v128, at: i32): void {
  v128.store(level, i32x4.max_s(deviation, v128.load(level, DEVIATIONS)), DEVIATIONS);
  const place = v128.load(level, PLACES);
  v128.store(level, v128.bitselect(i32x4.splat(at), place, isLarger), PLACES);
  const counted = v128.load(level, COUNTS);
  v128.store(level, v128.bitselect(count, counted, isLarger), COUNTS);
}

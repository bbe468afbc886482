/**
 * Counts within windows, to find a piece of another source: packages/sp800-22/src/source-rule/scan.ts has the measures, and
 * what the counts mean.
 */
import { INPUT, SCAN_LEVELS, SCAN_TOTALS, SCAN_WINDOW } from './memory';

/** Bits of the shortest window, and bytes of the results of a level: four arrays of sixteen i32. */
const WINDOW_SHIFT: i32 = 8;
const LEVEL_BYTES: usize = 256;
const PREVIOUS: usize = 0;
const DEVIATIONS: usize = 64;
const PLACES: usize = 128;
const COUNTS: usize = 192;

/** A bit of each byte. */
const PLANE: u64 = 0x0101_0101_0101_0101;

/** Counts all windows of 256, 512, 1024, … bits; those above the shortest overlap by half. */
export function scanWindows(n: i32): void {
  const windows = n >> WINDOW_SHIFT;
  let before: u64 = 0;
  let beforeThat: u64 = 0;
  for (let i = 0; i < windows; i++) {
    memory.fill(SCAN_WINDOW, 0, 64);
    const p = INPUT + (<usize>i << (WINDOW_SHIFT - 3));
    for (let at: usize = 0; at < 32; at += 8) {
      const word = load<u64>(p + at);
      countWord(word, before, beforeThat);
      beforeThat = before;
      before = word;
    }
    climb(i);
  }
}

/** Adds the sixteen counts of 64 bits. The two words before them are zero at the start. */
@inline
function countWord(word: u64, before: u64, beforeThat: u64): void {
  add(0, popcnt(word & PLANE));
  add(1, popcnt(word & (PLANE << 1)));
  add(2, popcnt(word & (PLANE << 2)));
  add(3, popcnt(word & (PLANE << 3)));
  add(4, popcnt(word & (PLANE << 4)));
  add(5, popcnt(word & (PLANE << 5)));
  add(6, popcnt(word & (PLANE << 6)));
  add(7, popcnt(word & (PLANE << 7)));
  add(8, popcnt(word));
  add(9, popcnt(word ^ ((word << 1) | (before >> 63))));
  add(10, popcnt(word ^ ((word << 8) | (before >> 56))));
  add(11, popcnt(word ^ ((word << 16) | (before >> 48))));
  add(12, popcnt(word ^ ((word << 24) | (before >> 40))));
  add(13, popcnt(word ^ ((word << 32) | (before >> 32))));
  add(14, popcnt(word ^ before));
  add(15, popcnt(word ^ beforeThat));
}

@inline
function add(lane: usize, count: u64): void {
  const at = SCAN_WINDOW + (lane << 2);
  store<u32>(at, load<u32>(at) + <u32>count);
}

/**
 * Notes the window at `index` in units of its length, and each longer one that ends with it. Two windows of one level in a
 * row are a window of the next, and if the second has an odd index, one without overlap that goes on.
 */
function climb(index: i32): void {
  for (let lane: usize = 0; lane < 64; lane += 16) {
    const count = v128.load(SCAN_WINDOW + lane);
    v128.store(SCAN_TOTALS + lane, i32x4.add(v128.load(SCAN_TOTALS + lane), count));
    climbLanes(lane, count, index);
  }
}

/** The same for four measures. The first eight count one bit of each byte. */
function climbLanes(lane: usize, first: v128, index: i32): void {
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

/** Keeps the window whose counts are farthest from half of its trials; the first of several. */
@inline
function note(level: usize, count: v128, half: i32, at: i32): void {
  const deviation = i32x4.abs(i32x4.sub(count, i32x4.splat(half)));
  const largest = v128.load(level, DEVIATIONS);
  const isLarger = i32x4.gt_s(deviation, largest);
  v128.store(level, i32x4.max_s(deviation, largest), DEVIATIONS);
  const place = v128.load(level, PLACES);
  v128.store(level, v128.bitselect(i32x4.splat(at), place, isLarger), PLACES);
  const counted = v128.load(level, COUNTS);
  v128.store(level, v128.bitselect(count, counted, isLarger), COUNTS);
}

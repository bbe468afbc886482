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
    const p = INPUT + (<usize>i << (WINDOW_SHIFT - 3));
    countWindow(p, before, beforeThat);
    before = load<u64>(p, 24);
    beforeThat = load<u64>(p, 16);
    climb(i);
  }
}

/** Writes the sixteen counts of four words. The two words before them are zero at the start. */
function countWindow(p: usize, before: u64, beforeThat: u64): void {
  const a = load<u64>(p);
  const b = load<u64>(p, 8);
  const c = load<u64>(p, 16);
  const d = load<u64>(p, 24);
  for (let bit: usize = 0; bit < 8; bit++) {
    const plane: u64 = PLANE << <u64>bit;
    const count = popcnt(a & plane) + popcnt(b & plane) + popcnt(c & plane) + popcnt(d & plane);
    store<u32>(SCAN_WINDOW + (bit << 2), <u32>count);
  }
  put(8, popcnt(a) + popcnt(b) + popcnt(c) + popcnt(d));
  put(9, unlike(a, before, 1) + unlike(b, a, 1) + unlike(c, b, 1) + unlike(d, c, 1));
  put(10, unlike(a, before, 8) + unlike(b, a, 8) + unlike(c, b, 8) + unlike(d, c, 8));
  put(11, unlike(a, before, 16) + unlike(b, a, 16) + unlike(c, b, 16) + unlike(d, c, 16));
  put(12, unlike(a, before, 24) + unlike(b, a, 24) + unlike(c, b, 24) + unlike(d, c, 24));
  put(13, unlike(a, before, 32) + unlike(b, a, 32) + unlike(c, b, 32) + unlike(d, c, 32));
  put(14, popcnt(a ^ before) + popcnt(b ^ a) + popcnt(c ^ b) + popcnt(d ^ c));
  put(15, popcnt(a ^ beforeThat) + popcnt(b ^ before) + popcnt(c ^ a) + popcnt(d ^ b));
}

@inline
function put(lane: usize, count: u64): void {
  store<u32>(SCAN_WINDOW + (lane << 2), <u32>count);
}

/** Counts the bits of `word` that differ from the bit `lag` places earlier. */
@inline
function unlike(word: u64, before: u64, lag: u64): u64 {
  return popcnt(word ^ ((word << lag) | (before >> (64 - lag))));
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

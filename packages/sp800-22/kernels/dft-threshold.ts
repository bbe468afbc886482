/**
 * The last stage: counts the |S_k|² below T². The transform is in f32, but the count is exact. Values
 * below the band are counted here; values within the band are listed and computed again in double
 * precision (dft-bin.ts).
 *
 * v = |S|² − (T² − band) is negative if the peak is surely below T². The bits of nonnegative floats have
 * the same order as the floats, and those of negative floats are larger as unsigned integers. So the
 * unsigned minimum of many v shows whether any is in the band, 0 ≤ v ≤ 2·band, and their signed maximum
 * gives that of |S|².
 */
import { multiplyAdd } from './dft-complex';
import { TALLY, WORKSPACE } from './dft-memory';
import { HIGH_PEAKS, PEAK_LIST, PEAK_LIST_LIMIT, PEAKS } from './memory';

/** For the current job: u16 counts of lanes 0 and 2, then of lanes 1 and 3; four of each. */
const EVEN_LANES: usize = TALLY;
const ODD_LANES: usize = TALLY + 16;
/** For the current job: u32 counts of each lane. */
const LANES: usize = TALLY + 32;
/** For all jobs: the maximum of v. */
const HIGHEST: usize = TALLY + 48;

let lowEnd: f32 = 0;
let bandBits: i32 = 0;
let peakBits: i32 = 0;
let job: i32 = 0;
let jobStart: usize = 0;
let jobLanes: i32 = 0;

/** Starts the counts. The band is from `low` to `high`, both included; from `peak` on, above it, bins are high peaks. */
export function startTally(low: f32, high: f32, peak: f32): void {
  lowEnd = low;
  bandBits = reinterpret<i32>(high - low);
  peakBits = reinterpret<i32>(peak - low);
}

/** Starts job `number`: later counts are its bins, in the first `lanes` lanes. */
export function startJob(number: i32, start: usize, lanes: i32): void {
  job = number;
  jobStart = start;
  jobLanes = lanes;
  memory.fill(TALLY, 0, 48);
}

@inline
export function minusLow(): v128 {
  return f32x4.splat(-lowEnd);
}

/** Returns v (see above); `minus` is `minusLow()`. */
@inline
export function aboveLow(re: v128, im: v128, minus: v128): v128 {
  return multiplyAdd(im, im, multiplyAdd(re, re, minus));
}

/**
 * Adds one to byte 4j + lane of `below` for each of four v_j that is negative. Narrowing saturates,
 * so it keeps the signs.
 */
@inline
export function addBelow(below: v128, v0: v128, v1: v128, v2: v128, v3: v128): v128 {
  const v01 = i16x8.narrow_i32x4_s(v0, v1);
  const v23 = i16x8.narrow_i32x4_s(v2, v3);
  const signs = i8x16.lt_s(i8x16.narrow_i16x8_s(v01, v23), i8x16.splat(0));
  return i8x16.sub(below, signs);
}

@inline
export function keepHighest(highest: v128): void {
  v128.store(HIGHEST, i32x4.max_s(v128.load(HIGHEST), highest));
}

/** Reports whether a minimum of v, as an unsigned number, is in the band, or a maximum is a high peak. */
@inline
export function hasListed(nearest: v128, highest: v128): bool {
  const inBand = i32x4.le_u(nearest, i32x4.splat(bandBits));
  return v128.any_true(v128.or(inBand, i32x4.ge_s(highest, i32x4.splat(peakBits))));
}

/** Counts a block without bins to list: `below` from `addBelow`, and one more count per lane. */
@inline
export function tally(below: v128, perLane: v128): void {
  const even = v128.and(below, i16x8.splat(0xff));
  v128.store(EVEN_LANES, i16x8.add(v128.load(EVEN_LANES), even));
  v128.store(ODD_LANES, i16x8.add(v128.load(ODD_LANES), i16x8.shr_u(below, 8)));
  v128.store(LANES, i32x4.add(v128.load(LANES), perLane));
}

/** Counts a block with bins in the band or high peaks, and lists these bins. `count` vectors of S are at `start`. */
export function scan(start: usize, count: usize): void {
  const end = start + (count << 5);
  for (let p = start; p < end; p += 32) {
    v128.store(WORKSPACE, aboveLow(v128.load(p), v128.load(p, 16), minusLow()));
    for (let lane = 0; lane < jobLanes; lane++) {
      const v = load<i32>(WORKSPACE + (<usize>lane << 2));
      const bin = (<u32>job << 16) | <u32>((p - jobStart) >> 3) | lane;
      if (v < 0) increment(LANES + (<usize>lane << 2));
      else if (v <= bandBits) list(bin);
      else if (v >= peakBits) listHigh(bin, v);
    }
  }
}

@inline
function increment(p: usize): void {
  store<u32>(p, load<u32>(p) + 1);
}

/**
 * Lists a bin, (job · 2^14 + index of the vector) · 4 + lane. Beyond the limit it only counts bins.
 */
function list(bin: u32): void {
  const length = load<u32>(PEAKS, 12);
  if (length < PEAK_LIST_LIMIT) store<u32>(PEAK_LIST + (<usize>length << 2), bin);
  store<u32>(PEAKS, length + 1, 12);
}

/** Lists a high peak with its v. Beyond the limit it only counts them. */
function listHigh(bin: u32, v: i32): void {
  const length = load<u32>(PEAKS, 24);
  if (length < PEAK_LIST_LIMIT) {
    const p = HIGH_PEAKS + (<usize>length << 3);
    store<u32>(p, bin);
    store<i32>(p, v, 4);
  }
  store<u32>(PEAKS, length + 1, 24);
}

/**
 * Adds the counts of the job. With `ownMirror`, the class of lane 0 holds both bins of each pair and is
 * added separately.
 */
export function finishJob(ownMirror: bool): void {
  for (let lane = 0; lane < jobLanes; lane++) {
    const place = ownMirror && lane == 0 ? PEAKS : PEAKS + 4;
    store<u32>(place, load<u32>(place) + laneCount(lane));
  }
}

function laneCount(lane: i32): u32 {
  const counts = (lane & 1 ? ODD_LANES : EVEN_LANES) + (<usize>(lane >> 1) << 1);
  const counted: u32 = load<u16>(counts) + load<u16>(counts, 4) + load<u16>(counts, 8);
  return counted + load<u16>(counts, 12) + load<u32>(LANES + (<usize>lane << 2));
}

/** Writes the largest |S|² to the results. */
export function finishTally(): void {
  let highest = 0;
  for (let lane: usize = 0; lane < 4; lane++) {
    highest = max(highest, load<i32>(HIGHEST + (lane << 2)));
  }
  store<i32>(PEAKS, reinterpret<i32>(reinterpret<f32>(highest) + lowEnd), 8);
}

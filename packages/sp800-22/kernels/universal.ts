/** Maurer's universal statistical test. SP 800-22 Rev. 1a §2.9. */
import { bitsAt } from './bits';
import { INPUT, LAST_SEEN, LOG_SUM, LOGARITHMS, LOGARITHMS_END } from './memory';

/**
 * Number of entries of `LOGARITHMS`, where entry d is log2(d) · 2^36, rounded, as i64, because sums of
 * integers do not depend on their order. With 2^26 bits, L is 12 and the sum at most
 * 2^26 / 12 · log2(2^26 / 12) < 2^27, which fits. Larger distances are rare and are computed.
 */
export const LOGARITHM_LIMIT: usize = (LOGARITHMS_END - LOGARITHMS) >> 3;
const SCALE: f64 = 68_719_476_736;

/** Block i (from 1) is stored as `STEP` · i, so that a distance is the offset of its logarithm. */
const STEP: i32 = 8;

/**
 * Writes Σ log2 of the distances over K blocks of L bits after the first Q. `LAST_SEEN` holds the last
 * block with each value, initially 0: the distance is then the block's own number.
 */
export function sumLogDistances(L: i32, Q: i32, K: i32): void {
  const sum = L == 7 ? sumOfSevens(Q, Q + K) : sumOf(L, Q, Q + K);
  store<f64>(LOG_SUM, <f64>sum / SCALE);
  memory.fill(LAST_SEEN, 0, <usize>4 << L);
}

/** Returns the sum for any L, block by block. */
function sumOf(L: i32, Q: i32, blocks: i32): i64 {
  const mask = ((<usize>1) << L) - 1;
  let sum: i64 = 0;
  for (let i = 1; i <= blocks; i++) {
    const value = <usize>bitsAt(INPUT, <usize>((i - 1) * L)) & mask;
    const term = exchange(value, i * STEP);
    if (i > Q) sum += term;
  }
  return sum;
}

/** Returns the sum for L = 7, the block length from 904,960 to 2,068,479 bits: eight blocks are seven bytes. */
function sumOfSevens(Q: i32, blocks: i32): i64 {
  for (let i = 1; i <= Q; i++) {
    store<i32>(LAST_SEEN + ((<usize>bitsAt(INPUT, <usize>((i - 1) * 7)) & 127) << 2), i * STEP);
  }
  // Four sums, because an addition waits for the previous one. Q is a multiple of eight.
  let sum0: i64 = 0;
  let sum1: i64 = 0;
  let sum2: i64 = 0;
  let sum3: i64 = 0;
  let at = (Q + 1) * STEP;
  let p = INPUT + <usize>((Q >> 3) * 7);
  const end = at + ((blocks - Q) >> 3) * (8 * STEP);
  for (; at < end; at += 8 * STEP) {
    const word = load<u64>(p);
    sum0 += exchange(<usize>word & 127, at);
    sum1 += exchange(<usize>(word >> 7) & 127, at + STEP);
    sum2 += exchange(<usize>(word >> 14) & 127, at + 2 * STEP);
    sum3 += exchange(<usize>(word >> 21) & 127, at + 3 * STEP);
    sum0 += exchange(<usize>(word >> 28) & 127, at + 4 * STEP);
    sum1 += exchange(<usize>(word >> 35) & 127, at + 5 * STEP);
    sum2 += exchange(<usize>(word >> 42) & 127, at + 6 * STEP);
    sum3 += exchange(<usize>(word >> 49) & 127, at + 7 * STEP);
    p += 7;
  }
  let word = load<u64>(p);
  for (; at <= blocks * STEP; at += STEP) {
    sum0 += exchange(<usize>word & 127, at);
    word >>= 7;
  }
  return sum0 + sum1 + sum2 + sum3;
}

/** Returns the logarithm of the distance from the last block with this value, and makes this block the last. */
@inline
function exchange(value: usize, at: i32): i64 {
  const distance = <usize>(at - load<i32>(value << 2, LAST_SEEN));
  store<i32>(value << 2, at, LAST_SEEN);
  if (distance < LOGARITHM_LIMIT * <usize>STEP) return load<i64>(distance, LOGARITHMS);
  return <i64>nearest(Math.log2(<f64>(distance / <usize>STEP)) * SCALE);
}

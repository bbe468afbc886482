/** Frequency, frequency within blocks and runs, in one pass. SP 800-22 Rev. 1a §2.1, §2.2, §2.3. */
import { INPUT, ONES_AND_RUNS } from './memory';

/**
 * Counts the ones, the runs and the deviation of the blocks of 128 bits.
 * Result: u32 ones, u32 V_n, f64 Σ (2·ones − 128)² over the whole blocks, which fits 2^53.
 */
export function countOnesAndRuns(n: i32): void {
  let ones: i64 = 0;
  let changes: i64 = 0;
  // Σ (ones − 64)², a quarter of the result.
  let spread: i64 = 0;
  let p = INPUT;
  const blocksEnd = INPUT + ((<usize>n >> 7) << 4);
  while (p < blocksEnd) {
    const low = load<u64>(p);
    const high = load<u64>(p, 8);
    const onesOfBlock: i64 = popcnt(low) + popcnt(high);
    ones += onesOfBlock;
    spread += (onesOfBlock - 64) * (onesOfBlock - 64);
    changes += changesWithin(low, high) + changesWithin(high, load<u64>(p, 16));
    p += 16;
  }
  const end = INPUT + (<usize>(n + 7) >> 3);
  while (p < end) {
    const word = load<u64>(p);
    ones += popcnt(word);
    changes += changesWithin(word, load<u64>(p, 8));
    p += 8;
  }
  // Zeros follow the sequence, so a last bit of 1 was counted as a change.
  const last = n - 1;
  const lastBit: u32 = (load<u8>(INPUT + (<usize>last >> 3)) >> <u8>(last & 7)) & 1;
  store<u32>(ONES_AND_RUNS, <u32>ones);
  store<u32>(ONES_AND_RUNS, <u32>(1 + changes) - lastBit, 4);
  store<f64>(ONES_AND_RUNS, <f64>(spread << 2), 8);
}

/** Returns Σ (2·ones − M)² over the whole blocks of `M` bits. It is at most n·M, so exact up to n = 2^26. */
export function sumOfBlocks(n: i32, M: i32): f64 {
  let sum: i64 = 0;
  const blocks = n / M;
  for (let block = 0; block < blocks; block++) {
    const deviation = 2 * onesBetween(<usize>block * <usize>M, <usize>(block + 1) * <usize>M) - M;
    sum += deviation * deviation;
  }
  return <f64>sum;
}

/** Counts the ones among the bits [begin, end). */
function onesBetween(begin: usize, end: usize): i64 {
  let p = INPUT + ((begin >> 6) << 3);
  const last = INPUT + ((end >> 6) << 3);
  let ones: i64 = -popcnt(lowBits(p, begin));
  for (; p < last; p += 8) ones += popcnt(load<u64>(p));
  return ones + popcnt(lowBits(last, end));
}

/** Returns the bits of the word at `p` before bit number `end`, modulo 64. */
@inline
function lowBits(p: usize, end: usize): u64 {
  return load<u64>(p) & (((<u64>1) << (<u64>end & 63)) - 1);
}

/** Counts the bits of `word` that differ from the next bit. `next` is the word after it. */
@inline
function changesWithin(word: u64, next: u64): i64 {
  return popcnt(word ^ ((word >> 1) | (next << 63)));
}

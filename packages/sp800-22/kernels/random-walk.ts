/**
 * The random walk S_k, one step up for a 1, one down for a 0: its extremes (cumulative sums) and its
 * visits near zero (excursions). SP 800-22 Rev. 1a §2.13, §2.14, §2.15.
 */
import { EXCURSIONS, INPUT, WALK } from './memory';

/** Writes i32 S_n, i32 highest, i32 lowest, including S_0 = 0. */
export function findExtremes(n: i32): void {
  const wordsEnd = INPUT + ((<usize>n >> 6) << 3);
  // First at the ends of the words. Most words then cannot exceed the extremes and need no closer look.
  let S: i32 = 0;
  let highest: i32 = 0;
  let lowest: i32 = 0;
  for (let p = INPUT; p < wordsEnd; p += 8) {
    S += stepOver(load<u64>(p), 64);
    highest = max(highest, S);
    lowest = min(lowest, S);
  }
  S = 0;
  for (let p = INPUT; p < wordsEnd; p += 8) {
    let word = load<u64>(p);
    const after = S + stepOver(word, 64);
    // 64 steps from S to `after` stay within 32 of the midpoint.
    const middle = (S + after) >> 1;
    if (middle + 32 > highest || middle - 32 < lowest) {
      for (let byte = 0; byte < 8; byte++) {
        const next = S + stepOver(word & 0xff, 8);
        const middleOfByte = (S + next) >> 1;
        if (middleOfByte + 4 > highest || middleOfByte - 4 < lowest) {
          for (let bit: u64 = 0; bit < 8; bit++) {
            S += stepOver((word >> bit) & 1, 1);
            highest = max(highest, S);
            lowest = min(lowest, S);
          }
        }
        S = next;
        word >>= 8;
      }
    }
    S = after;
  }
  for (let i = n & ~63; i < n; i++) {
    S += stepAt(i);
    highest = max(highest, S);
    lowest = min(lowest, S);
  }
  store<i32>(WALK, S);
  store<i32>(WALK, highest, 4);
  store<i32>(WALK, lowest, 8);
}

/** ν counts the visits to the states −4 … 4 of a cycle, five and more as one; ξ those to −9 … 9. */
const NU: usize = EXCURSIONS + 16;
const XI: usize = NU + 8 * 6 * 4;
/** Visits to −4 … −1, 1 … 4 in this cycle. */
const CYCLE: usize = EXCURSIONS + 0x140;

/**
 * Writes i32 J, then ν and ξ. Far from zero the kernel does not follow the walk bit by bit: 64 steps from
 * beyond 73, or 8 from beyond 17, reach no state that counts.
 */
export function countExcursions(n: i32): void {
  let S: i32 = 0;
  let J: i32 = 0;
  let i: i32 = 0;
  const bytesEnd = n & ~7;
  while (i < bytesEnd) {
    const p = INPUT + (<usize>i >> 3);
    if (abs(S) > 73 && i + 64 <= bytesEnd) {
      S += stepOver(load<u64>(p), 64);
      i += 64;
      continue;
    }
    const byte = <u64>load<u8>(p);
    i += 8;
    if (abs(S) > 17) {
      S += stepOver(byte, 8);
      continue;
    }
    for (let bit: u64 = 0; bit < 8; bit++) {
      S += stepOver((byte >> bit) & 1, 1);
      J += visit(S);
    }
  }
  while (i < n) {
    S += stepAt(i);
    J += visit(S);
    i++;
  }
  // The zero after the walk.
  if (S != 0) {
    endCycle();
    J++;
  }
  store<i32>(EXCURSIONS, J);
}

/** Counts a visit to S. Returns 1 if it ends a cycle, else 0. */
@inline
function visit(S: i32): i32 {
  if (S == 0) {
    endCycle();
    return 1;
  }
  if (abs(S) <= 9) {
    increment(XI + (<usize>(S + 9) << 2));
    if (abs(S) <= 4) increment(CYCLE + (<usize>(S < 0 ? S + 4 : S + 3) << 2));
  }
  return 0;
}

function endCycle(): void {
  for (let state: usize = 0; state < 8; state++) {
    const visits = CYCLE + (state << 2);
    increment(NU + ((state * 6 + <usize>min(load<i32>(visits), 5)) << 2));
    store<i32>(visits, 0);
  }
}

@inline
function increment(p: usize): void {
  store<i32>(p, load<i32>(p) + 1);
}

/** Returns the change of the walk over the lowest `count` bits of `word`, whose other bits are zero. */
@inline
function stepOver(word: u64, count: i32): i32 {
  return (<i32>popcnt(word) << 1) - count;
}

@inline
function stepAt(i: i32): i32 {
  return ((<i32>(load<u8>(INPUT + (<usize>i >> 3)) >> <u8>(i & 7)) & 1) << 1) - 1;
}

/**
 * Pairs of bits that differ at eight distances. A supplement: not part of SP 800-22.
 *
 * Four lags share a pass, because the loads of words would otherwise cost as much as the counts.
 */
import { INPUT, LAG_COUNTS } from './memory';

const LAGS: i32 = 8;
const LONGEST: i32 = 128;

/** Returns lag number `index`: 2, 3, 4, 8, 16, 32, 64, 128. */
@inline
function lagOf(index: i32): i32 {
  return index == 0 ? 2 : index == 1 ? 3 : 1 << index;
}

/** Writes, for each lag, u32 pairs (i, i + lag) of different bits. */
export function countLags(n: i32): void {
  // Words from here on may have pairs that reach beyond the sequence.
  const whole = n > LONGEST ? (n - LONGEST) >> 6 : 0;
  const end = INPUT + ((<usize>whole) << 3);
  countWithinWords(end);
  countByWords(end);
  for (let i = 0; i < LAGS; i++) countRest(n, end, i);
}

/** Counts at the lags 2, 3, 4 and 8 in the words before `end`. */
function countWithinWords(end: usize): void {
  let a: i64 = 0;
  let b: i64 = 0;
  let c: i64 = 0;
  let d: i64 = 0;
  let word = load<u64>(INPUT);
  for (let p = INPUT; p < end; p += 8) {
    const next = load<u64>(p, 8);
    a += popcnt(word ^ ((word >> 2) | (next << 62)));
    b += popcnt(word ^ ((word >> 3) | (next << 61)));
    c += popcnt(word ^ ((word >> 4) | (next << 60)));
    d += popcnt(word ^ load<u64>(p, 1));
    word = next;
  }
  storeFour(0, a, b, c, d);
}

/** Counts at the lags 16, 32, 64 and 128, which are whole bytes, in the words before `end`. */
function countByWords(end: usize): void {
  let a: i64 = 0;
  let b: i64 = 0;
  let c: i64 = 0;
  let d: i64 = 0;
  for (let p = INPUT; p < end; p += 8) {
    const word = load<u64>(p);
    a += popcnt(word ^ load<u64>(p, 2));
    b += popcnt(word ^ load<u64>(p, 4));
    c += popcnt(word ^ load<u64>(p, 8));
    d += popcnt(word ^ load<u64>(p, 16));
  }
  storeFour(4, a, b, c, d);
}

@inline
function storeFour(first: i32, a: i64, b: i64, c: i64, d: i64): void {
  const target = countOf(first);
  store<u32>(target, <u32>a);
  store<u32>(target, <u32>b, 4);
  store<u32>(target, <u32>c, 8);
  store<u32>(target, <u32>d, 12);
}

/** Adds the pairs whose first bit is in a word from `begin` on. */
function countRest(n: i32, begin: usize, index: i32): void {
  const lag = lagOf(index);
  let differences = load<u32>(countOf(index));
  for (let i = (<i32>(begin - INPUT)) << 3; i < n - lag; i++) {
    differences += bitAt(i) ^ bitAt(i + lag);
  }
  store<u32>(countOf(index), differences);
}

@inline
function countOf(index: i32): usize {
  return LAG_COUNTS + (<usize>index << 2);
}

@inline
function bitAt(i: i32): u32 {
  return (<u32>load<u8>(INPUT + (<usize>i >> 3)) >> (<u32>i & 7)) & 1;
}

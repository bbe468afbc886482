/**
 * Ones, and pairs of bits that differ at short distances. A supplement: not part of SP 800-22.
 *
 * Four lags share one pass, because loads of words would otherwise cost as much as the counts.
 */
import { INPUT, LAG_COUNTS } from './memory';

const LAGS: i32 = 12;
const LONGEST: i32 = 128;

/** Returns lag number `index`: 1 to 8, then 16, 32, 64 and 128. */
@inline
function lagOf(index: i32): i32 {
  return index < 8 ? index + 1 : 8 << (index - 7);
}

/** Writes u32: ones, then the pairs (i, i + lag) of different bits for each lag. */
export function countLags(n: i32): void {
  // Words from here on may have pairs that reach beyond the sequence.
  const whole = n > LONGEST ? (n - LONGEST) >> 6 : 0;
  const end = INPUT + ((<usize>whole) << 3);
  countOnes(n);
  countFour(end, 1);
  countFour(end, 5);
  for (let i = 8; i < LAGS; i++) countBytes(end, i);
  for (let i = 0; i < LAGS; i++) countRest(n, end, i);
}

function countOnes(n: i32): void {
  const end = INPUT + (<usize>(n + 7) >> 3);
  let ones: i64 = 0;
  // Zeros follow the sequence.
  for (let p = INPUT; p < end; p += 8) ones += popcnt(load<u64>(p));
  store<u32>(LAG_COUNTS, <u32>ones);
}

/** Counts at the lags `lag` to `lag` + 3, below 64, in the words before `end`. */
function countFour(end: usize, lag: i32): void {
  const s: u64 = <u64>lag;
  let a: i64 = 0;
  let b: i64 = 0;
  let c: i64 = 0;
  let d: i64 = 0;
  let word = load<u64>(INPUT);
  for (let p = INPUT; p < end; p += 8) {
    const next = load<u64>(p, 8);
    a += popcnt(word ^ ((word >> s) | (next << (64 - s))));
    b += popcnt(word ^ ((word >> (s + 1)) | (next << (63 - s))));
    c += popcnt(word ^ ((word >> (s + 2)) | (next << (62 - s))));
    d += popcnt(word ^ ((word >> (s + 3)) | (next << (61 - s))));
    word = next;
  }
  const target = countOf(lag - 1);
  store<u32>(target, <u32>a);
  store<u32>(target, <u32>b, 4);
  store<u32>(target, <u32>c, 8);
  store<u32>(target, <u32>d, 12);
}

/** Counts at a lag of whole bytes, in the words before `end`. */
function countBytes(end: usize, index: i32): void {
  const bytes = <usize>lagOf(index) >> 3;
  let differences: i64 = 0;
  for (let p = INPUT; p < end; p += 8) {
    differences += popcnt(load<u64>(p) ^ load<u64>(p + bytes));
  }
  store<u32>(countOf(index), <u32>differences);
}

/** Adds the pairs whose first bit is in a word from `begin` on. */
function countRest(n: i32, begin: usize, index: i32): void {
  const lag = lagOf(index);
  const pairs = n - lag;
  let differences = load<u32>(countOf(index));
  for (let i = (<i32>(begin - INPUT)) << 3; i < pairs; i++) {
    differences += bitAt(i) ^ bitAt(i + lag);
  }
  store<u32>(countOf(index), differences);
}

@inline
function countOf(index: i32): usize {
  return LAG_COUNTS + ((<usize>index + 1) << 2);
}

@inline
function bitAt(i: i32): u32 {
  return (<u32>load<u8>(INPUT + (<usize>i >> 3)) >> (<u32>i & 7)) & 1;
}

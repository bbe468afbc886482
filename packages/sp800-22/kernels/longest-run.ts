/** Longest run of ones in a block. SP 800-22 Rev. 1a §2.4. */
import { bitsAt, onesFrom } from './bits';
import { INPUT, LONGEST_RUNS } from './memory';

/**
 * Writes ν, the blocks of M bits by their longest run: at most `shortest`, …, at least `longest`.
 * M is 8, 128 or 10,000, a whole number of bytes.
 */
export function classifyLongestRuns(n: i32, M: i32, shortest: i32, longest: i32): void {
  memory.fill(LONGEST_RUNS, 0, (longest - shortest + 1) * 4);
  const blocks = n / M;
  for (let block = 0; block < blocks; block++) {
    const start = <usize>block * <usize>M;
    const length =
      M == 10_000
        ? longestAmongLong(start, start + 10_000, shortest, longest)
        : longestRun(start, start + <usize>M);
    const p = LONGEST_RUNS + (<usize>(min(max(length, shortest), longest) - shortest) << 2);
    store<u32>(p, load<u32>(p) + 1);
  }
}

/** Returns the longest run, bit by bit, for the short blocks of short sequences. */
function longestRun(start: usize, end: usize): i32 {
  let longest: i32 = 0;
  let run: i32 = 0;
  for (let i = start; i < end; i++) {
    run = (bitsAt(INPUT, i) & 1) == 1 ? run + 1 : 0;
    longest = max(longest, run);
  }
  return longest;
}

/**
 * Returns the longest run of the bits from `start` to before `end`. `shortest` = 10 stands for all
 * shorter runs and `longest` = 16 for all longer ones. It only looks at runs of eleven and more, and
 * stops at sixteen, because a block of ones would otherwise take quadratic time.
 */
function longestAmongLong(start: usize, end: usize, shortest: i32, longest: i32): i32 {
  let length = shortest;
  for (let i = start; i < end && length < longest; i += 128) {
    const eleven = runsOfEleven(INPUT + (i >> 3));
    if (v128.any_true(eleven)) {
      length = max(length, longestFrom(i64x2.extract_lane(eleven, 0), i, end));
      length = max(length, longestFrom(i64x2.extract_lane(eleven, 1), i + 64, end));
    }
  }
  return length;
}

/** Returns, for each of the 128 bits at `p`, whether eleven ones begin there: eight and the next three. */
@inline
function runsOfEleven(p: usize): v128 {
  const from8 = v128.load(p, 1);
  const from16 = v128.load(p, 2);
  const ninth = from8;
  const tenth = v128.or(i64x2.shr_u(from8, 1), i64x2.shl(from16, 7));
  const eleventh = v128.or(i64x2.shr_u(from8, 2), i64x2.shl(from16, 6));
  return v128.and(v128.and(onesFrom(p), ninth), v128.and(tenth, eleventh));
}

/**
 * Returns the longest of the runs that begin at or extend into the bits of `starts`, whose bit 0 is bit
 * `from` of the sequence. A run that began earlier was measured there.
 */
function longestFrom(starts: u64, from: usize, end: usize): i32 {
  let longest: i32 = 0;
  while (starts != 0) {
    const at = ctz(starts);
    const i = from + <usize>at;
    if (i >= end) break;
    const run = min(<i32>ctz(~bitsAt(INPUT, i)), <i32>(end - i));
    longest = max(longest, run);
    // The carry runs through the ones that belong to the same run.
    starts &= starts + (<u64>1 << at);
  }
  return longest;
}

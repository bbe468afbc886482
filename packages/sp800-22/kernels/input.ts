/** Prepares the sequence for the kernels, and wipes it with everything derived from it. */
import { DFT_SCRATCH, DFT_SCRATCH_END } from './dft-memory';
import {
  COMPLEXITY_END,
  INPUT,
  INPUT_PAD,
  PATTERNS,
  RESULTS,
  SCAN_END,
} from './memory';

/** Each value of four bits, reversed. */
const REVERSED = i8x16(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15);

/**
 * Turns the packed bytes at `INPUT`, whose most significant bit comes first, into the order the
 * kernels read. The sequence is the `n` bits after the first `offset` (0 … 7); everything after it is
 * set to zero. Memory MUST reach `INPUT_PAD` bytes beyond ⌈(offset + n) / 8⌉.
 */
export function ingest(n: i32, offset: i32): void {
  reverseBits(INPUT + (<usize>(offset + n + 7) >> 3));
  if (offset != 0) shiftDown(INPUT + (<usize>(n + 7) >> 3), <u64>offset);
  const end = INPUT + (<usize>(n + 7) >> 3);
  memory.fill(end, 0, INPUT_PAD);
  const rest = n & 7;
  if (rest != 0) store<u8>(end - 1, <u8>(<i32>load<u8>(end - 1) & ((1 << rest) - 1)));
}

/** Reverses the bits of each byte before `end`. */
function reverseBits(end: usize): void {
  const mask = i8x16.splat(0x0f);
  for (let p = INPUT; p < end; p += 16) {
    const bytes = v128.load(p);
    const low = i8x16.swizzle(REVERSED, v128.and(bytes, mask));
    const high = i8x16.swizzle(REVERSED, v128.and(i16x8.shr_u(bytes, 4), mask));
    // The reversed low half has four bits: no bit crosses into the next byte.
    v128.store(p, v128.or(i16x8.shl(low, 4), high));
  }
}

/** Moves all bits before `end` down by `offset`, 1 to 7. */
function shiftDown(end: usize, offset: u64): void {
  for (let p = INPUT; p < end; p += 8) {
    store<u64>(p, (load<u64>(p) >> offset) | (load<u64>(p, 8) << (64 - offset)));
  }
}

/**
 * Zeroes all memory that holds the sequence of `n` bits or anything derived from it. Only the tables
 * remain, which hold constants of the tests.
 */
export function wipe(n: i32): void {
  memory.fill(PATTERNS, 0, COMPLEXITY_END - PATTERNS);
  memory.fill(DFT_SCRATCH, 0, DFT_SCRATCH_END - DFT_SCRATCH);
  wipeWithoutScratch(n);
}

/**
 * Does the same after kernels that use no scratch memory: those of ones and runs, walk, longest runs and lags. The rest of
 * it is seventeen times as large as a sequence of 2^20 bits.
 */
export function wipeWithoutScratch(n: i32): void {
  memory.fill(RESULTS, 0, SCAN_END - RESULTS);
  memory.fill(INPUT, 0, (<usize>(n + 7) >> 3) + INPUT_PAD);
}

/** Overlapping template matching: nine ones. SP 800-22 Rev. 1a §2.8. */
import { onesFrom, sumOfLanes } from './bits';
import { INPUT, OVERLAPS } from './memory';

/** Blocks of 1032 bits; a window of nine begins at each of their first 1024. */
const BLOCK_BYTES: usize = 129;
const WINDOW_BYTES: usize = 128;
const CLASSES: i32 = 6;

/** Writes ν, the number of blocks with 0, 1, 2, 3, 4 matches and with five or more. */
export function classifyOverlaps(n: i32): void {
  memory.fill(OVERLAPS, 0, CLASSES * 4);
  const blocks = n / 1032;
  for (let block = 0; block < blocks; block++) {
    let p = INPUT + <usize>block * BLOCK_BYTES;
    const end = p + WINDOW_BYTES;
    // Matches per byte: at most 8 in each of 8 rounds.
    let matches = i8x16.splat(0);
    for (; p < end; p += 16) {
      const eight = onesFrom(p);
      const nine = v128.and(eight, v128.load(p, 1));
      matches = i8x16.add(matches, i8x16.popcnt(nine));
    }
    const p4 = OVERLAPS + (<usize>min(sumOfBytes(matches), CLASSES - 1) << 2);
    store<u32>(p4, load<u32>(p4) + 1);
  }
}

@inline
function sumOfBytes(bytes: v128): i32 {
  return sumOfLanes(i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(bytes)));
}

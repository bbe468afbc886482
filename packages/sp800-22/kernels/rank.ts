/** Rank of binary matrices of 32 × 32 bits. SP 800-22 Rev. 1a §2.5. */
import { INPUT, RANK, RANK_END, RANKS } from './memory';

const MATRIX_BYTES: usize = 128;
/** A row of four matrices, one in each lane. */
const ROW: usize = 16;

/**
 * Writes the number of matrices with rank 32, 31 and less, four matrices at a time. The first bit of a row
 * is its lowest, which only permutes the columns.
 */
export function classifyRanks(n: i32): void {
  memory.fill(RANKS, 0, 3 * 4);
  const matrices = n >> 10;
  for (let k = 0; k < matrices; k += 4) {
    interleave(INPUT + <usize>k * MATRIX_BYTES);
    const deficits = reduce();
    const left = matrices - k;
    classify(i32x4.extract_lane(deficits, 0));
    if (left > 1) classify(i32x4.extract_lane(deficits, 1));
    if (left > 2) classify(i32x4.extract_lane(deficits, 2));
    if (left > 3) classify(i32x4.extract_lane(deficits, 3));
  }
}

@inline
function classify(deficit: i32): void {
  const p = RANKS + (<usize>min(deficit, 2) << 2);
  store<u32>(p, load<u32>(p) + 1);
}

/** Lays row r of the four matrices at `p` side by side: four rows at a time, a 4 × 4 transposition. */
function interleave(p: usize): void {
  for (let row: usize = 0; row < 32; row += 4) {
    const source = p + (row << 2);
    const a = v128.load(source);
    const b = v128.load(source, 128);
    const c = v128.load(source, 256);
    const d = v128.load(source, 384);
    const ab01 = v128.shuffle<u32>(a, b, 0, 4, 1, 5);
    const ab23 = v128.shuffle<u32>(a, b, 2, 6, 3, 7);
    const cd01 = v128.shuffle<u32>(c, d, 0, 4, 1, 5);
    const cd23 = v128.shuffle<u32>(c, d, 2, 6, 3, 7);
    const target = RANK + row * ROW;
    v128.store(target, v128.shuffle<u64>(ab01, cd01, 0, 2));
    v128.store(target, v128.shuffle<u64>(ab01, cd01, 1, 3), 16);
    v128.store(target, v128.shuffle<u64>(ab23, cd23, 0, 2), 32);
    v128.store(target, v128.shuffle<u64>(ab23, cd23, 1, 3), 48);
  }
}

/**
 * Returns, for each matrix, the number of rows that depend on earlier rows. Each row v in turn clears its
 * top bit from all later rows; a row that is zero in its turn is dependent. Four rows per pass.
 */
function reduce(): v128 {
  const zero = i32x4.splat(0);
  // Minus one for each zero row.
  let zeroRows = zero;
  for (let p = RANK; p < RANK_END; p += 4 * ROW) {
    const v0 = v128.load(p);
    const v1 = clear(v128.load(p, 16), v0);
    const v2 = clear(clear(v128.load(p, 32), v0), v1);
    const v3 = clear(clear(clear(v128.load(p, 48), v0), v1), v2);
    zeroRows = i32x4.add(zeroRows, i32x4.add(i32x4.eq(v0, zero), i32x4.eq(v1, zero)));
    zeroRows = i32x4.add(zeroRows, i32x4.add(i32x4.eq(v2, zero), i32x4.eq(v3, zero)));
    for (let q = p + 4 * ROW; q < RANK_END; q += 4 * ROW) {
      v128.store(q, clear(clear(clear(clear(v128.load(q), v0), v1), v2), v3));
      v128.store(q, clear(clear(clear(clear(v128.load(q, 16), v0), v1), v2), v3), 16);
      v128.store(q, clear(clear(clear(clear(v128.load(q, 32), v0), v1), v2), v3), 32);
      v128.store(q, clear(clear(clear(clear(v128.load(q, 48), v0), v1), v2), v3), 48);
    }
  }
  return i32x4.neg(zeroRows);
}

/** Returns `row` without the top bit of `v`: adding v makes it smaller exactly if it has that bit. */
@inline
function clear(row: v128, v: v128): v128 {
  return i32x4.min_u(row, v128.xor(row, v));
}

/**
 * Linear complexity of blocks of 500 to 5000 bits. SP 800-22 Rev. 1a §2.10.
 *
 * Each bit of a v128 holds one of 128 blocks ("bit-slicing"): plane i holds coefficient i of all of
 * them. A step must then be the same for every block, as in Berlekamp–Massey by division steps
 * (D. J. Bernstein and B.-Y. Yang, "Fast constant-time gcd computation and modular
 * inversion", 2019). On power series f = 1 and g = s_0 + s_1 x + …, and with k = 0, repeat M times:
 *
 *     d = g_0 and swap = d and k ≥ 0
 *     g ← g + d·f                      (if d: a sum that ends in 0)
 *     f ← f + swap·g                   (if swap: g is now g + f, so f becomes the old g)
 *     g ← g / x
 *     k ← swap ? −k − 1 : k + 1
 *
 * Then L = (M − k) / 2. k has the parity of M. Only coefficients that can still reach g_0 are kept, one fewer each step.
 */
import { COMPLEXITIES, COMPLEXITY, COMPLEXITY_END, INPUT } from './memory';

/** Blocks in a batch, and rows that are transposed together. */
const LANES: i32 = 128;
const GROUP: i32 = 16;

/** At most 5120 planes each, with room behind them, because the loops read past the end. */
const F: usize = COMPLEXITY;
const G: usize = COMPLEXITY + 0x14400;
const G_FROM_F: usize = G - F;
/** The magnitude of k in planes: k if k ≥ 0, −k − 1 if k < 0. */
const MAGNITUDE: usize = G + 0x14400;
const MAGNITUDE_PLANES: usize = 13;
/** 16 rows of at most 640 bytes. */
const ROWS: usize = MAGNITUDE + 0x100;
/** Two squares of 16 × 16 bytes, for transposing. */
const SQUARE_A: usize = ROWS + 0x2800;
const SQUARE_B: usize = SQUARE_A + 0x100;
// A mistake in the sizes above is a compile-time error.
if (SQUARE_B + 256 > COMPLEXITY_END) ERROR('linear complexity needs more memory than it has');

/** The lanes with k < 0, and the planes of the magnitude that are not all zero. */
let negative: v128 = i64x2.splat(0);
let activeBytes: usize = 16;

/** Counts the blocks of `M` bits, 500 ≤ M ≤ 5000, by k. */
export function countComplexities(n: i32, M: i32): void {
  memory.fill(COMPLEXITIES, 0, 18 * 4);
  const blocks = n / M;
  // A row holds a block and some bits of the next.
  const rowBytes = (<usize>(M + 127) >> 7) << 4;
  for (let first = 0; first < blocks; first += LANES) {
    const lanes = min(LANES, blocks - first);
    for (let lane = 0; lane < lanes; lane += GROUP) {
      gatherRows(first + lane, min(GROUP, lanes - lane), M, rowBytes);
      transpose(G + (<usize>lane >> 3), rowBytes);
    }
    reduce(M);
    classify(lanes);
  }
  // `wipe` does not reach a global.
  negative = i64x2.splat(0);
}

/** Copies `count` blocks to rows that begin at a byte. */
function gatherRows(first: i32, count: i32, M: i32, rowBytes: usize): void {
  for (let row = 0; row < count; row++) {
    const bit = <usize>(first + row) * <usize>M;
    const source = INPUT + (bit >> 3);
    const target = ROWS + <usize>row * rowBytes;
    const shift = <i32>(bit & 7);
    if (shift == 0) {
      memory.copy(target, source, rowBytes);
    } else {
      for (let at: usize = 0; at < rowBytes; at += 16) {
        const here = v128.load(source + at);
        const next = v128.load(source + at, 8);
        const upper = i64x2.shl(next, 64 - shift);
        v128.store(target + at, v128.or(i64x2.shr_u(here, shift), upper));
      }
    }
  }
}

/** Bit i of row r becomes bit r of the u16 at `target` + 16 i: 16 bytes of the rows at a time. */
function transpose(target: usize, rowBytes: usize): void {
  for (let column: usize = 0; column < rowBytes; column += 16) {
    interleave(ROWS + column, rowBytes, SQUARE_A);
    interleave(SQUARE_A, 16, SQUARE_B);
    interleave(SQUARE_B, 16, SQUARE_A);
    interleave(SQUARE_A, 16, SQUARE_B);
    for (let byte: usize = 0; byte < 16; byte++) {
      storePlanes(v128.load(SQUARE_B + byte * 16), target + (column + byte) * 128);
    }
  }
}

/** Does a perfect shuffle of the 16 rows at `source`; four of them transpose 16 × 16 bytes. */
function interleave(source: usize, rowBytes: usize, target: usize): void {
  for (let i: usize = 0; i < 8; i++) {
    const a = v128.load(source + i * rowBytes);
    const b = v128.load(source + (i + 8) * rowBytes);
    const low = v128.shuffle<u8>(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const high = v128.shuffle<u8>(
      a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31,
    );
    v128.store(target + i * 32, low);
    v128.store(target + i * 32, high, 16);
  }
}

/** Writes bit b of the 16 bytes, one of each row, to the plane at `p` + 16 b. */
@inline
function storePlanes(bytes: v128, p: usize): void {
  store<u16>(p, i8x16.bitmask(bytes), 112);
  bytes = i8x16.add(bytes, bytes);
  store<u16>(p, i8x16.bitmask(bytes), 96);
  bytes = i8x16.add(bytes, bytes);
  store<u16>(p, i8x16.bitmask(bytes), 80);
  bytes = i8x16.add(bytes, bytes);
  store<u16>(p, i8x16.bitmask(bytes), 64);
  bytes = i8x16.add(bytes, bytes);
  store<u16>(p, i8x16.bitmask(bytes), 48);
  bytes = i8x16.add(bytes, bytes);
  store<u16>(p, i8x16.bitmask(bytes), 32);
  bytes = i8x16.add(bytes, bytes);
  store<u16>(p, i8x16.bitmask(bytes), 16);
  bytes = i8x16.add(bytes, bytes);
  store<u16>(p, i8x16.bitmask(bytes));
}

/** Does the M division steps. */
function reduce(M: i32): void {
  memory.fill(F, 0, <usize>M * 16);
  v128.store(F, i64x2.splat(-1));
  memory.fill(MAGNITUDE, 0, MAGNITUDE_PLANES * 16);
  negative = i64x2.splat(0);
  activeBytes = 16;
  reduceByFours(M);
  for (let length = M & 3; length > 0; length--) reduceByOne(length);
}

/** Does one division step on `length` coefficients. */
function reduceByOne(length: i32): void {
  const d = v128.load(G);
  const swap = v128.andnot(d, negative);
  updateK(swap);
  const end = F + (<usize>(length - 1) << 4);
  for (let p = F; p < end; p += 16) {
    const f = v128.load(p, 16);
    const g = v128.xor(v128.load(p, G_FROM_F + 16), v128.and(d, f));
    v128.store(p, g, G_FROM_F);
    v128.store(p, v128.xor(f, v128.and(swap, g)), 16);
  }
}

/**
 * Does division steps until fewer than four coefficients are left, four in one pass over the coefficients: it loads g_j, takes it through all
 * four and stores it as g_(j−4). Step t works on coefficient j − t + 1 of f and g, so three values of f
 * wait for the next step. `fs_i` and `gs_i` below are coefficient i after step s.
 */
function reduceByFours(M: i32): void {
  for (let length = M; length >= 4; length -= 4) {
    // The triangle of the coefficients 0 to 3, which decides what all four steps do.
    const f0_1 = v128.load(F, 16);
    const f0_2 = v128.load(F, 32);
    const f0_3 = v128.load(F, 48);
    const d1 = v128.load(G);
    const swap1 = v128.andnot(d1, negative);
    const g1_1 = v128.xor(v128.load(G, 16), v128.and(d1, f0_1));
    const f1_1 = v128.xor(f0_1, v128.and(swap1, g1_1));
    const d2 = g1_1;
    updateK(swap1);
    const swap2 = v128.andnot(d2, negative);
    const g1_2 = v128.xor(v128.load(G, 32), v128.and(d1, f0_2));
    const f1_2 = v128.xor(f0_2, v128.and(swap1, g1_2));
    const g2_1 = v128.xor(g1_2, v128.and(d2, f1_1));
    const f2_1 = v128.xor(f1_1, v128.and(swap2, g2_1));
    const d3 = g2_1;
    updateK(swap2);
    const swap3 = v128.andnot(d3, negative);
    const g1_3 = v128.xor(v128.load(G, 48), v128.and(d1, f0_3));
    let f1 = v128.xor(f0_3, v128.and(swap1, g1_3));
    const g2_2 = v128.xor(g1_3, v128.and(d2, f1_2));
    let f2 = v128.xor(f1_2, v128.and(swap2, g2_2));
    const g3_1 = v128.xor(g2_2, v128.and(d3, f2_1));
    let f3 = v128.xor(f2_1, v128.and(swap3, g3_1));
    const d4 = g3_1;
    updateK(swap3);
    const swap4 = v128.andnot(d4, negative);
    updateK(swap4);
    const end = F + (<usize>(length - 4) << 4);
    for (let p = F; p < end; p += 16) {
      const f0 = v128.load(p, 64);
      let g = v128.xor(v128.load(p, G_FROM_F + 64), v128.and(d1, f0));
      const nextF1 = v128.xor(f0, v128.and(swap1, g));
      g = v128.xor(g, v128.and(d2, f1));
      const nextF2 = v128.xor(f1, v128.and(swap2, g));
      f1 = nextF1;
      g = v128.xor(g, v128.and(d3, f2));
      const nextF3 = v128.xor(f2, v128.and(swap3, g));
      f2 = nextF2;
      g = v128.xor(g, v128.and(d4, f3));
      v128.store(p, g, G_FROM_F);
      v128.store(p, v128.xor(f3, v128.and(swap4, g)), 16);
      f3 = nextF3;
    }
  }
}

/**
 * Sets k ← swap ? −k − 1 : k + 1. `swap` occurs only with k ≥ 0 and then only flips the sign. Otherwise
 * the magnitude of k ≥ 0 grows by one, that of k < −1 shrinks by one, and k = −1 becomes 0.
 */
@inline
function updateK(swap: v128): void {
  const wasNegative = negative;
  let nonzero = v128.load(MAGNITUDE);
  for (let at: usize = 16; at < activeBytes; at += 16) {
    nonzero = v128.or(nonzero, v128.load(MAGNITUDE + at));
  }
  const down = v128.and(wasNegative, nonzero);
  const up = v128.not(v128.or(swap, wasNegative));
  negative = v128.or(down, swap);
  // Ripples upwards: a carry passes ones when counting up, a borrow passes zeros.
  let carry = v128.or(up, down);
  for (let at: usize = 0; at < activeBytes; at += 16) {
    const plane = v128.load(MAGNITUDE + at);
    v128.store(MAGNITUDE + at, v128.xor(plane, carry));
    carry = v128.and(carry, v128.xor(plane, wasNegative));
  }
  if (v128.any_true(carry)) {
    v128.store(MAGNITUDE + activeBytes, carry);
    activeBytes += 16;
  }
}

/** Counts the first `lanes` lanes by sign and magnitude of k. */
function classify(lanes: i32): void {
  const valid = firstLanes(lanes);
  let large = i64x2.splat(0);
  for (let plane: usize = 3; plane < MAGNITUDE_PLANES; plane++) {
    large = v128.or(large, v128.load(MAGNITUDE + plane * 16));
  }
  const positive = v128.andnot(valid, negative);
  const below = v128.and(valid, negative);
  for (let magnitude: i32 = 0; magnitude < 8; magnitude++) {
    const equal = v128.andnot(withMagnitude(magnitude), large);
    addTo(magnitude, ones(v128.and(positive, equal)));
    addTo(magnitude + 8, ones(v128.and(below, equal)));
  }
  addTo(16, ones(v128.and(positive, large)));
  addTo(17, ones(v128.and(below, large)));
}

/** Returns the lanes whose magnitude has these three lowest bits. */
@inline
function withMagnitude(magnitude: i32): v128 {
  let different = i64x2.splat(0);
  for (let bit: i32 = 0; bit < 3; bit++) {
    const wanted = i64x2.splat(-(<i64>(magnitude >> bit) & 1));
    different = v128.or(different, v128.xor(v128.load(MAGNITUDE + (<usize>bit << 4)), wanted));
  }
  return v128.not(different);
}

/** Returns ones in the first `count` lanes, 1 to 128. */
function firstLanes(count: i32): v128 {
  const all: u64 = ~0;
  const low = count >= 64 ? all : all >> <u64>(64 - count);
  const high = count <= 64 ? 0 : all >> <u64>(128 - count);
  return i64x2.replace_lane(i64x2.splat(low), 1, high);
}

@inline
function addTo(category: i32, count: i32): void {
  const p = COMPLEXITIES + (<usize>category << 2);
  store<i32>(p, load<i32>(p) + count);
}

@inline
function ones(lanes: v128): i32 {
  return <i32>(popcnt(i64x2.extract_lane(lanes, 0)) + popcnt(i64x2.extract_lane(lanes, 1)));
}

/**
 * Addresses of the transforms' tables and scratch memory. There is room for the tables of one length;
 * packages/sp800-22/src/kernels/dft-tables.ts fills them. Complex numbers in vectors take 32 bytes: four
 * real parts, one per lane, then four imaginary parts, f32 each.
 */
import { DFT, DFT_END } from './memory';

/**
 * For each of the four classes c, 256 rows of 32 bytes: Σ ±W^(kjn/16) over the bits j of a byte,
 * for k = c + 4·lane; then the same times γ², γ = W^(kn/64).
 */
export const BYTE_SUMS: usize = DFT;
export const BYTE_SUMS_SIZE: usize = 0x4000;
/** The factor γ of each class. */
export const PAIR_FACTORS: usize = BYTE_SUMS + 4 * BYTE_SUMS_SIZE;
export const PAIR_FACTORS_SIZE: usize = 32;
/** For jobs 8 and 9: the powers 0 to R − 1 of the factor that splits class 16. */
export const APART_FACTORS: usize = PAIR_FACTORS + 4 * PAIR_FACTORS_SIZE;
export const APART_FACTORS_SIZE: usize = 5 * 32;

/** Number of jobs: 2c and 2c + 1 for the pair of classes c, then 8 and 9 for class 16. */
const JOBS: usize = 10;
/** For each job, the powers 1 to R − 1 of the factor of each upper node, from the root down. */
export const LANE_FACTORS: usize = APART_FACTORS + 2 * APART_FACTORS_SIZE;
export const LANE_FACTORS_SIZE: usize = 0x2000;
/** For each job, W^(ri) for i < 64 or 125. */
export const TWISTS: usize = LANE_FACTORS + JOBS * LANE_FACTORS_SIZE;
export const TWISTS_SIZE: usize = 4000;

/** The powers of the factors of lower nodes, the same for all lanes: 8 bytes each. Three levels. */
export const NODE_FACTORS_3: usize = TWISTS + JOBS * TWISTS_SIZE;
export const NODE_FACTORS_2: usize = NODE_FACTORS_3 + 256 * 24;
export const NODE_FACTORS_1: usize = NODE_FACTORS_2 + 1024 * 24;
const TABLES_END: usize = NODE_FACTORS_1 + 3125 * 32;

/** From here on: everything derived from the sequence. */
export const DFT_SCRATCH: usize = (TABLES_END + 0xfff) & ~0xfff;

/** The rows of `BYTE_SUMS` of the current class, at a constant address. */
export const CLASS_SUMS: usize = DFT_SCRATCH;
/** Values of a few positions, between the bits and both jobs of a pair. */
export const PLUS_TILE: usize = CLASS_SUMS + BYTE_SUMS_SIZE;
export const MINUS_TILE: usize = PLUS_TILE + 0x5000;
/** Vectors of one step that do not fit in registers. */
export const WORKSPACE: usize = MINUS_TILE + 0x5000;
/** dft-threshold.ts: running results. */
export const TALLY: usize = WORKSPACE + 0x200;
/** dft-bin.ts: powers of W^k, and tables derived from them. */
export const BIN_ROTATIONS: usize = TALLY + 0x200;
export const BIN_SUMS: usize = BIN_ROTATIONS + 0x400;
export const BIN_SUMS_SIZE: usize = 0x1000;

/** dft-transpose.ts: for each position i < n/64, eight offsets into `CLASS_SUMS`, u16 each. */
export const OFFSETS: usize = BIN_SUMS + 4 * BIN_SUMS_SIZE;
/** Remainders of the two jobs of a pair: n/64 vectors each. */
export const PLUS: usize = OFFSETS + 0x40000;
export const MINUS: usize = PLUS + 0x80000;
/** Before the pairs: for each position i < n/16, its 16 bits. */
export const WORDS: usize = MINUS;
/** Before the pairs: class 16 as f32, n/64 real parts and as many imaginary parts. */
export const CLASS_16: usize = WORDS + 0x20000;
export const CLASS_16_IMAGINARY: usize = CLASS_16 + 0x10000;
export const DFT_SCRATCH_END: usize = MINUS + 0x80000;

// A mistake in the sizes above is a compile-time error.
if (DFT_SCRATCH_END > DFT_END) ERROR('the transforms need more memory than they have');

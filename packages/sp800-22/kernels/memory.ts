/**
 * The one memory of the module, by region. Addresses are constants, so each load and store has its
 * address in the instruction.
 *
 * Everything derived from the sequence is in regions that `wipe` (input.ts) zeroes; tables hold only
 * constants of the tests. Every kernel leaves its scratch memory to the next `wipe`.
 */

/**
 * The results of the kernels, each at its own address. All scratch memory is zero when a sequence is
 * loaded. The kernels of patterns and excursions count up from there, so each may run at most once.
 */
export const RESULTS: usize = 0x10000;
const RESULTS_END: usize = 0x10800;

/** frequency.ts: u32 ones, u32 V_n, f64 Σ (2·ones − 128)². */
export const ONES_AND_RUNS: usize = RESULTS;
/** random-walk.ts: i32 S_n, i32 highest, i32 lowest. */
export const WALK: usize = RESULTS + 0x10;
/** rank.ts: u32 numbers of matrices with rank 32, 31, less. */
export const RANKS: usize = RESULTS + 0x20;
/** longest-run.ts: u32 ν, at most seven. */
export const LONGEST_RUNS: usize = RESULTS + 0x40;
/** overlapping-template.ts: u32 ν, six. */
export const OVERLAPS: usize = RESULTS + 0x60;
/** universal.ts: f64 Σ log2 of the distances. */
export const LOG_SUM: usize = RESULTS + 0xa0;
/** patterns.ts: f64 Σ ν² for the patterns of 16, 15 and 14 bits. */
export const SQUARES: usize = RESULTS + 0xb0;
/**
 * random-walk.ts: i32 J, then from byte 16 on i32 ν (eight rows of six), then i32 ξ (from −9 to 9);
 * after them, at 0x140, eight i32 of scratch memory.
 */
export const EXCURSIONS: usize = RESULTS + 0x100;
/**
 * dft.ts: u32 bins below T² of the classes that hold both of each pair, u32 of all others, f32 largest
 * |S|², u32 bins listed, i32 Σ X_i, i32 Σ (−1)^i X_i, u32 high peaks; then the list, u32 each, and the list of high
 * peaks, each a u32 bin and its f32 |S|² − low.
 */
export const PEAKS: usize = RESULTS + 0x280;
export const PEAK_LIST: usize = PEAKS + 0x20;
export const PEAK_LIST_LIMIT: u32 = 64;
export const HIGH_PEAKS: usize = PEAK_LIST + 4 * PEAK_LIST_LIMIT;
/**
 * linear-complexity.ts: u32 blocks with k = 0 … 7, with k = −1 … −8, with larger k, with smaller k.
 */
export const COMPLEXITIES: usize = HIGH_PEAKS + 8 * PEAK_LIST_LIMIT;

/** lags.ts: u32 pairs of different bits, eight. */
export const LAG_COUNTS: usize = RESULTS + 0x600;

// A mistake in the addresses above is a compile-time error.
if (COMPLEXITIES + 4 * 18 > LAG_COUNTS || LAG_COUNTS + 4 * 8 > RESULTS_END) ERROR('results need more memory than they have');

/** rank.ts: four matrices of 32 rows, interleaved. */
export const RANK: usize = 0x18000;
export const RANK_END: usize = 0x18200;

/** non-overlapping-template.ts: counts of the patterns of 9 bits of 8 blocks, u32 each; scratch. */
export const TEMPLATES: usize = 0x19000;
export const TEMPLATES_END: usize = 0x22000;

/** scan.ts: sixteen u32 of all windows; then for each length of windows what scan.ts keeps; scratch. */
export const SCAN_TOTALS: usize = TEMPLATES_END;
export const SCAN_LEVELS: usize = SCAN_TOTALS + 0x40;
export const SCAN_END: usize = 0x24000;

/** universal.ts: the last position of each block value, u32 each; L = 16 needs 2^16. The kernel wipes this region. */
export const LAST_SEEN: usize = 0x24000;

/** universal.ts: a table. */
export const LOGARITHMS: usize = 0x64000;
export const LOGARITHMS_END: usize = 0xa4000;

/** patterns.ts and, one after the other, windows.ts. */
export const PATTERNS: usize = 0xa4000;
export const PATTERNS_END: usize = 0x148000;

/** linear-complexity.ts. */
export const COMPLEXITY: usize = PATTERNS_END;
export const COMPLEXITY_END: usize = 0x180000;

/** dft*.ts: tables and scratch. */
export const DFT: usize = 0x180000;
export const DFT_END: usize = 0x500000;

/** The sequence: bit i is bit (i mod 8) of byte ⌊i / 8⌋, the lowest first; zeros follow it. */
export const INPUT: usize = 0x500000;

/** Kernels may read this many bytes after the last of the sequence. */
export const INPUT_PAD: usize = 512;

/**
 * The one memory of the module, by region. Addresses are constants, so that each load and store has
 * its address folded into the instruction.
 *
 * What is derived from the sequence is in regions that `wipe` (input.ts) sets to zero; tables hold
 * constants of the tests only. Every kernel leaves its scratch memory to the next run's `wipe`.
 */

/** Below are the compiler's own constants. Integers that a kernel hands back, from index 0. */
export const RESULTS: usize = 0x10000;
export const RESULTS_END: usize = 0x11000;

/** linear-complexity.ts. */
export const COMPLEXITY: usize = 0x11000;
export const COMPLEXITY_END: usize = 0x18000;

/** rank.ts: four matrices of 32 rows, interleaved. */
export const RANK: usize = 0x18000;
export const RANK_END: usize = 0x18200;

/** non-overlapping-template.ts. */
export const TEMPLATES: usize = 0x19000;
export const TEMPLATES_END: usize = 0x22000;

/** universal.ts: where each block value was last seen, u32 each; L = 16 needs 2^16. */
export const LAST_SEEN: usize = 0x24000;
export const LAST_SEEN_END: usize = 0x64000;

/** universal.ts: a table. */
export const LOGARITHMS: usize = 0x64000;
export const LOGARITHMS_END: usize = 0xa4000;

/** patterns.ts. */
export const PATTERNS: usize = 0xa4000;
export const PATTERNS_END: usize = 0x180000;

/** dft*.ts: tables and scratch. */
export const DFT: usize = 0x180000;
export const DFT_END: usize = 0x500000;

/** The sequence: bit i is bit (i mod 8) of byte ⌊i / 8⌋, the lowest first; zeros behind it. */
export const INPUT: usize = 0x500000;

/** Kernels read up to this many bytes behind the last of the sequence, and find zeros. */
export const INPUT_PAD: usize = 128;

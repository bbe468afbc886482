/** Reads bits across byte and word boundaries, and sums lanes. */

/** Returns at least 57 bits from bit `i` of the memory at `base` on, the first lowest. */
@inline
export function bitsAt(base: usize, i: usize): u64 {
  return load<u64>(base + (i >> 3)) >> (<u64>i & 7);
}

/**
 * Returns, for each of the 128 bits at `p`, whether eight ones begin there. Reads 24 bytes.
 * In a word of 64 bits, AND with its shifted self finds runs of 2, 4 and 8. Zeros are shifted into the
 * upper bits, so these come from the word that begins a byte later.
 */
@inline
export function onesFrom(p: usize): v128 {
  return v128.or(runsOfEight(v128.load(p)), i64x2.shl(runsOfEight(v128.load(p, 1)), 8));
}

@inline
function runsOfEight(words: v128): v128 {
  const two = v128.and(words, i64x2.shr_u(words, 1));
  const four = v128.and(two, i64x2.shr_u(two, 2));
  return v128.and(four, i64x2.shr_u(four, 4));
}

/** Returns the sum of the four lanes, modulo 2^32. */
@inline
export function sumOfLanes(lanes: v128): u32 {
  return (
    i32x4.extract_lane(lanes, 0) +
    i32x4.extract_lane(lanes, 1) +
    i32x4.extract_lane(lanes, 2) +
    i32x4.extract_lane(lanes, 3)
  );
}

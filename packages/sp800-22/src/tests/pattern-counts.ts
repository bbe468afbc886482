/**
 * Counts of all overlapping m-bit patterns of a sequence closed to a ring, for the approximate entropy
 * and serial tests (SP 800-22 Rev. 1a §2.11.4 and §2.12.4).
 */

/** Returns the count of each m-bit pattern. The first m − 1 bits are appended, so there are n windows. */
export function countPatterns(bits: Uint8Array, m: number): Uint32Array {
  const n = bits.length;
  const counts = new Uint32Array(2 ** m);
  const mask = 2 ** m - 1;
  let window = 0;
  for (let i = 0; i < m - 1; i++) window = (window << 1) | bits[i % n];
  // The window that ends at bit i + m − 1 is the one that begins at bit i.
  for (let i = m - 1; i < n; i++) {
    window = ((window << 1) | bits[i]) & mask;
    counts[window]++;
  }
  for (let i = Math.max(n, m - 1); i < n + m - 1; i++) {
    window = ((window << 1) | bits[i % n]) & mask;
    counts[window]++;
  }
  return counts;
}

/** Returns the counts of the patterns one bit shorter. On a ring each continues with a 0 or a 1. */
export function shortenPatterns(counts: Uint32Array): Uint32Array {
  const shorter = new Uint32Array(counts.length / 2);
  for (let i = 0; i < shorter.length; i++) shorter[i] = counts[2 * i] + counts[2 * i + 1];
  return shorter;
}

/** Returns the lowest m bits of a pattern in reverse order. */
export function reversed(pattern: number, m: number): number {
  let result = 0;
  for (let bit = 0; bit < m; bit++) result = (result << 1) | ((pattern >>> bit) & 1);
  return result;
}

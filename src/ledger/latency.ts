/**
 * Latencies as counts by bucket, from which percentiles come that means cannot tell. Buckets are four to
 * an octave from 16 µs on: each is 19 % wider than the one before, and its middle is at most 9.1 % off.
 */

/** How many latencies fell into each bucket, from the first on; zeros at the end are left off. */
export type LatencyCounts = readonly number[];

const FIRST_US = 16;
const PER_OCTAVE = 4;

/** 22 octaves: up to 2^26 µs, 67 seconds. */
export const LATENCY_BUCKETS = 22 * PER_OCTAVE;

/** What a percentile may be off, as a share of it, for latencies from 16 µs to 67 s. */
export const LATENCY_ERROR: number = 2 ** (1 / (2 * PER_OCTAVE)) - 1;

/** The bucket of a latency in microseconds; whatever is outside of all goes into the nearest. */
export function latencyBucket(latencyUs: number): number {
  const bucket = Math.floor(PER_OCTAVE * Math.log2(latencyUs / FIRST_US));
  return Math.min(LATENCY_BUCKETS - 1, Math.max(0, bucket));
}

/** Adds `more` to `counts`. */
export function addCounts(counts: number[], more: LatencyCounts): void {
  for (const [bucket, count] of more.entries()) counts[bucket] = (counts[bucket] ?? 0) + count;
}

export function countLatency(counts: number[], latencyUs: number): void {
  const bucket = latencyBucket(latencyUs);
  while (counts.length <= bucket) counts.push(0);
  counts[bucket] = (counts[bucket] ?? 0) + 1;
}

export function totalCount(counts: LatencyCounts): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * The latency in microseconds that `share` of those counted do not exceed, 0 < share ≤ 1 (nearest rank),
 * off by `LATENCY_ERROR` of it at most. Throws `RangeError` when nothing was counted.
 */
export function latencyPercentileUs(counts: LatencyCounts, share: number): number {
  let left = Math.ceil(share * totalCount(counts));
  for (const [bucket, count] of counts.entries()) {
    left -= count;
    if (left <= 0 && count > 0) return FIRST_US * 2 ** ((bucket + 0.5) / PER_OCTAVE);
  }
  throw new RangeError('"counts" expected at least one latency, got none');
}

/** The form in which a database keeps them: decimal numbers with commas between. */
export function formatCounts(counts: LatencyCounts): string {
  return counts.join(',');
}

export function parseCounts(text: string): number[] {
  return text.split(',').map(Number);
}

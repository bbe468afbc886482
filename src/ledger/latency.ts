/**
 * Latencies as counts by bucket, from which percentiles are computed. There are four buckets per octave
 * from 16 µs on. Each is 19 % wider than the previous one, so its middle is at most 9.1 % off.
 */

/** Number of latencies in each bucket, without trailing zeros. */
export type LatencyCounts = readonly number[];

const FIRST_US = 16;
const PER_OCTAVE = 4;

/** 22 octaves: up to 2^26 µs, or 67 seconds. */
export const LATENCY_BUCKETS = 22 * PER_OCTAVE;

/** Largest relative error of a percentile, for latencies from 16 µs to 67 s. */
export const LATENCY_ERROR: number = 2 ** (1 / (2 * PER_OCTAVE)) - 1;

/**
 * Returns the bucket of a latency in microseconds. A latency outside all buckets belongs to the nearest.
 */
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
 * Returns the latency in microseconds that `share` of the counted ones do not exceed, 0 < share ≤ 1
 * (nearest rank), with a relative error of at most `LATENCY_ERROR`. Throws `RangeError` if nothing was
 * counted.
 */
export function latencyPercentileUs(counts: LatencyCounts, share: number): number {
  let left = Math.ceil(share * totalCount(counts));
  for (const [bucket, count] of counts.entries()) {
    left -= count;
    if (left <= 0 && count > 0) return FIRST_US * 2 ** ((bucket + 0.5) / PER_OCTAVE);
  }
  throw new RangeError('"counts" expected at least one latency, got none');
}

/** Formats counts as a database stores them: decimal numbers, separated by commas. */
export function formatCounts(counts: LatencyCounts): string {
  return counts.join(',');
}

export function parseCounts(text: string): number[] {
  return text.split(',').map(Number);
}

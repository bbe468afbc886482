/** Time, injected wherever a rule depends on it so that tests can set it. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Milliseconds on the machine's monotonic clock: the same zero in every thread of this machine. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** ISO 8601 with an explicit UTC offset, e.g. `2026-01-31T12:00:00.000+00:00`. */
export function formatTimestamp(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, -1)}+00:00`;
}

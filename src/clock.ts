/** Time, injected wherever a rule depends on it so that tests can set it. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  nowMs(): number;
}

/** Lengths of time in milliseconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Milliseconds on the machine's monotonic clock: the same zero in every thread of this machine. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A moment on two clocks. */
export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function instantNow(clock: Clock): Instant {
  return { monotonicMs: monotonicMs(), wallMs: clock.nowMs() };
}

/**
 * Time gone by, by the clock that shows more: the monotonic one stands still while the machine is suspended, the
 * wall clock may be set back.
 */
export function elapsedMs(since: Instant, now: Instant): number {
  return Math.max(now.monotonicMs - since.monotonicMs, now.wallMs - since.wallMs);
}

/** Months since year 0, UTC: the number that names a calendar month. */
export function utcMonth(epochMs: number): number {
  const date = new Date(epochMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** When a month begins. */
export function utcMonthStart(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12);
}

/** ISO 8601 with an explicit UTC offset, e.g. `2026-01-31T12:00:00.000+00:00`. */
export function formatTimestamp(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, -1)}+00:00`;
}

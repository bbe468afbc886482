/** Source of time. Rules that depend on time get it injected, so that tests can set it. */
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

/** Returns milliseconds of the machine's monotonic clock, which has the same zero in all threads and processes. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** One moment on the monotonic and the wall clock. */
export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function instantNow(clock: Clock): Instant {
  return { monotonicMs: monotonicMs(), wallMs: clock.nowMs() };
}

/**
 * Returns the elapsed milliseconds on the clock that shows more: the monotonic clock stops while the machine is
 * suspended, and the wall clock may be set back.
 */
export function elapsedMs(since: Instant, now: Instant): number {
  return Math.max(now.monotonicMs - since.monotonicMs, now.wallMs - since.wallMs);
}

/** Returns the number of a calendar month: months since year 0, UTC. */
export function utcMonth(epochMs: number): number {
  const date = new Date(epochMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Returns the start of a month in milliseconds since the Unix epoch. */
export function utcMonthStart(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12);
}

/** The last second that was formatted: a server formats the same one many times. */
let second = Number.NaN;
let secondText = '';

/**
 * Formats a time as ISO 8601 with an explicit UTC offset, e.g. `2026-01-31T12:00:00.000+00:00`. Throws `RangeError`
 * if no date has this time.
 */
export function formatTimestamp(epochMs: number): string {
  const wholeMs = Math.trunc(epochMs);
  const ofTime = Math.floor(wholeMs / SECOND_MS);
  if (ofTime !== second) {
    secondText = new Date(ofTime * SECOND_MS).toISOString().slice(0, -'000Z'.length);
    second = ofTime;
  }
  return `${secondText}${String(wholeMs - ofTime * SECOND_MS).padStart(3, '0')}+00:00`;
}

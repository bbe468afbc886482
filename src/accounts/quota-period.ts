/**
 * The quota period: one calendar month in UTC.
 *
 * The ledger decides on the quota in its transaction, where counter and row change together:
 * `ledger/quota-decision.ts`. This file holds the arithmetic of the period and an early refusal, which
 * saves the work for a request that must fail.
 */
import { utcMonth, utcMonthStart } from '../clock.ts';

/** Usage as last read: the counter of `month`. Within a month it never falls. */
interface UsageView {
  readonly month: number;
  readonly used: number;
  readonly quota: number | null;
}

/** The quota period at one moment: requests used, its length, and the time left. */
interface QuotaPeriod {
  readonly used: number;
  readonly lengthSeconds: number;
  /** At least 1. */
  readonly secondsLeft: number;
}

/**
 * Returns the period at `nowMs`. The ledger's clock decides on the month: if `usage` is of a later month
 * than `nowMs`, that month has begun. Usage of an earlier month counts as zero.
 */
export function quotaPeriod(usage: UsageView, nowMs: number): QuotaPeriod {
  const atMs = Math.max(nowMs, utcMonthStart(usage.month));
  const month = utcMonth(atMs);
  const endMs = utcMonthStart(month + 1);
  return {
    used: usage.month === month ? usage.used : 0,
    lengthSeconds: (endMs - utcMonthStart(month)) / 1000,
    secondsLeft: Math.max(1, Math.ceil((endMs - atMs) / 1000)),
  };
}

/**
 * Returns the seconds until a request fits again after a quota refusal: to the end of the usage's month, at
 * least 1. The month may have ended if the refusal was decided just before midnight.
 */
export function secondsToNextMonth({ month }: UsageView, nowMs: number): number {
  const atMs = Math.max(nowMs, utcMonthStart(month));
  return Math.max(1, Math.ceil((utcMonthStart(month + 1) - atMs) / 1000));
}

/** Returns true if the known usage proves that the current month has no room for `count` further requests. */
export function isExhausted(usage: UsageView, nowMs: number, count = 1): boolean {
  return usage.quota !== null && quotaPeriod(usage, nowMs).used + count > usage.quota;
}

/**
 * The quota period: one calendar month in UTC.
 *
 * The decision that counts falls in the ledger's transaction, where counter and row move together:
 * `ledger/quota-decision.ts`. Here are the period's arithmetic and the early refusal that spares a request its work.
 */
import { utcMonth, utcMonthStart } from '../clock.ts';

/** Usage as last seen: the counter of `month`, which within that month never falls. */
export interface UsageView {
  readonly month: number;
  readonly used: number;
  readonly quota: number | null;
}

/** The period at a moment: what is used of it, how long it is, and how long until the next one. */
export interface QuotaPeriod {
  readonly used: number;
  readonly lengthSeconds: number;
  /** At least 1. */
  readonly secondsLeft: number;
}

/**
 * The period that usage belongs to at `nowMs`. The ledger's clock decides on the month: if its usage is of a later one
 * than the time here, that one has begun. Usage of an earlier one does not count any more.
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
 * Seconds from a refusal by this usage until a request fits again, at least 1: to the end of the usage's month. That may be
 * over when the refusal was decided just before midnight.
 */
export function secondsToNextMonth({ month }: UsageView, nowMs: number): number {
  const atMs = Math.max(nowMs, utcMonthStart(month));
  return Math.max(1, Math.ceil((utcMonthStart(month + 1) - atMs) / 1000));
}

/** True when the usage already seen proves that no further request fits into the current month. */
export function isExhausted(usage: UsageView, nowMs: number): boolean {
  return usage.quota !== null && quotaPeriod(usage, nowMs).used >= usage.quota;
}

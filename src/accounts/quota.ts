/**
 * The quota period: one calendar month in UTC.
 *
 * The decision itself falls in the ledger's transaction, where counter and row move together; here
 * are the period's arithmetic and the early refusal that spares a request its work.
 */

/** Months since year 0, UTC: the number that names a quota period. */
export function quotaMonth(epochMs: number): number {
  const date = new Date(epochMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Whole seconds until the next period starts, at least 1. */
export function secondsToNextMonth(epochMs: number): number {
  const month = quotaMonth(epochMs);
  const next = Date.UTC(Math.floor((month + 1) / 12), (month + 1) % 12, 1);
  return Math.max(1, Math.ceil((next - epochMs) / 1000));
}

/** Length of the period that holds `epochMs`, in seconds. */
export function monthLengthSeconds(epochMs: number): number {
  const month = quotaMonth(epochMs);
  const start = Date.UTC(Math.floor(month / 12), month % 12, 1);
  const end = Date.UTC(Math.floor((month + 1) / 12), (month + 1) % 12, 1);
  return (end - start) / 1000;
}

/** Usage as last seen: the counter of `month`, which within that month never falls. */
export interface UsageView {
  readonly month: number;
  readonly used: number;
  readonly quota: number | null;
}

/** True when the usage already seen proves that no further request fits into the current month. */
export function isExhausted(usage: UsageView, epochMs: number): boolean {
  return usage.quota !== null && usage.month === quotaMonth(epochMs) && usage.used >= usage.quota;
}

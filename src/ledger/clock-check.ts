/** Judges whether a server's clock can be trusted for pruning. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../clock.ts';
import { SetupError } from '../errors.ts';

/** Default limit of the skew between a server's clock and PostgreSQL's. */
export const DEFAULT_MAX_SKEW_MS = MINUTE_MS;

/** With SQLite: how far a clock may be ahead of the latest known time, and how far behind. */
const MAX_AHEAD_MS = 7 * DAY_MS;
const MAX_BEHIND_MS = MINUTE_MS;

/**
 * A row that is younger than the last check of the clock by more than this proves nothing. A server checks
 * its clock once a day, so such a row comes from a clock that was not checked.
 */
const TRUSTED_AFTER_CHECK_MS = 2 * DAY_MS;

/** The result of comparing a clock with the ledger. */
export interface ClockReading {
  /** PostgreSQL has its own clock. With SQLite the newest row shows the latest known time. */
  readonly against: 'database' | 'rows';
  /**
   * The certain part of the skew in milliseconds: positive if the clock is ahead, negative if it is behind,
   * 0 if they agree.
   */
  readonly skewMs: number;
  /** Why this clock prunes nothing; null if it is trusted. */
  readonly doubt: string | null;
}

/**
 * SQLite's record of its checks of the clock. The migration that creates `clock_check` describes each
 * column.
 */
export interface ClockCheck {
  readonly seenMs: number;
  readonly doubtedMs: number | null;
  readonly acceptedUntilMs: number | null;
}

/** Throws `SetupError` if a clock is in doubt. */
export function requireBelieved({ doubt }: ClockReading): void {
  if (doubt !== null) throw new SetupError(doubt);
}

/**
 * Returns true if an operator must act on a doubt at once. With SQLite a clock can be ahead of the newest
 * row just because no key was generated for days. Without a retention, nothing is lost.
 */
export function isUrgent(
  { against, skewMs, doubt }: ClockReading,
  retentionDays: number | null,
): boolean {
  const isIdleAtWorst = against === 'rows' && skewMs > 0 && retentionDays === null;
  return doubt !== null && !isIdleAtWorst;
}

/**
 * Returns the skew of a clock that was read before and after another clock, less what the round trip can
 * explain.
 */
export function skewBetween(beforeMs: number, afterMs: number, otherMs: number): number {
  if (otherMs < beforeMs) return beforeMs - otherMs;
  return Math.min(0, afterMs - otherMs);
}

export function judgeByDatabase(skewMs: number, maxSkewMs: number): ClockReading {
  const doubt =
    Math.abs(skewMs) > maxSkewMs
      ? `the clock of this machine is ${describeSkew(skewMs)} the database's clock: correct the wrong one. ` +
        `PHM_MAX_CLOCK_SKEW_SECONDS allows ${maxSkewMs / SECOND_MS} s`
      : null;
  return { against: 'database', skewMs, doubt };
}

/**
 * Compares a clock with the newest row and the last check of the clock. New rows of a doubted clock do not
 * end the doubt. It persists until the clock agrees with what was known before or an operator accepts it.
 */
export function judgeByRows(
  check: ClockCheck | null,
  newestMs: number | null,
  nowMs: number,
): ClockReading {
  const knownMs = witnessedMs(check, newestMs);
  const aheadMs = nowMs - knownMs;
  const isFar = aheadMs > MAX_AHEAD_MS || aheadMs < -MAX_BEHIND_MS;
  if (knownMs > 0 && isFar) return doubtedByRows(aheadMs);
  return { against: 'rows', skewMs: 0, doubt: null };
}

/**
 * Returns the latest time shown by a trusted clock, from which no clock should be far; 0 if nothing is
 * known.
 */
export function witnessedMs(check: ClockCheck | null, newestMs: number | null): number {
  if (check && !isWitness(check, newestMs)) return check.seenMs;
  return Math.max(check?.seenMs ?? 0, newestMs ?? 0);
}

/** Returns true if the newest row comes from a trusted clock. */
function isWitness({ seenMs, doubtedMs }: ClockCheck, newestMs: number | null): boolean {
  return doubtedMs === null && newestMs !== null && newestMs <= seenMs + TRUSTED_AFTER_CHECK_MS;
}

function doubtedByRows(skewMs: number): ClockReading {
  const doubt =
    `the clock of this machine is ${describeSkew(skewMs)} the newest row of the ledger, so no row is removed. ` +
    'If this clock is wrong, correct it. If it is right (the service was off for days, or an earlier clock ' +
    'was wrong), run: phm ledger prune --accept-clock';
  return { against: 'rows', skewMs, doubt };
}

/** Describes a skew, such as "400 days ahead of". */
function describeSkew(skewMs: number): string {
  return `${describeSpan(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'}`;
}

function describeSpan(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.round(ms / DAY_MS)} days`;
  if (ms >= 2 * HOUR_MS) return `${Math.round(ms / HOUR_MS)} hours`;
  return `${Math.ceil(ms / SECOND_MS)} seconds`;
}

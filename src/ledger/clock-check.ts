/** Whether a server's clock may be believed when rows are removed by it. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../clock.ts';
import { SetupError } from '../errors.ts';

/** How far a server's clock may be from that of PostgreSQL, unless something else is set. */
export const DEFAULT_MAX_SKEW_MS = MINUTE_MS;

/** How far a clock may be ahead of what is known to have been, with SQLite, and how far behind. */
const MAX_AHEAD_MS = 7 * DAY_MS;
const MAX_BEHIND_MS = MINUTE_MS;

/**
 * Rows that are younger than the last look at the clock by more than this say nothing: a server looks once a day, so a
 * clock that no one looked at has made them.
 */
const TRUSTED_AFTER_LOOK_MS = 2 * DAY_MS;

/** A clock, held against the ledger. */
export interface ClockReading {
  /** PostgreSQL has a clock of its own. With SQLite the newest row tells what time it has been. */
  readonly against: 'database' | 'rows';
  /** How far the clock is ahead, or behind where it is negative, as far as that is certain; 0 where they agree. */
  readonly skewMs: number;
  /** Why nothing is pruned by this clock; null: it is believed. */
  readonly doubt: string | null;
}

/** What SQLite keeps of the looks at the clock; the migration that makes `clock_check` says what each is. */
export interface ClockCheck {
  readonly seenMs: number;
  readonly doubtedMs: number | null;
  readonly acceptedUntilMs: number | null;
}

/** Throws `SetupError` when a clock is not believed. */
export function requireBelieved({ doubt }: ClockReading): void {
  if (doubt !== null) throw new SetupError(doubt);
}

/**
 * Whether an operator must act on a doubt at once. Beside SQLite a clock may be ahead of the newest row because no key was
 * made for days; without a retention no row is lost by it.
 */
export function isUrgent(
  { against, skewMs, doubt }: ClockReading,
  retentionDays: number | null,
): boolean {
  const isIdleAtWorst = against === 'rows' && skewMs > 0 && retentionDays === null;
  return doubt !== null && !isIdleAtWorst;
}

/**
 * The skew of a clock that was read before and after another one was: what cannot come from the way there and back.
 */
export function skewBetween(beforeMs: number, afterMs: number, otherMs: number): number {
  if (otherMs < beforeMs) return beforeMs - otherMs;
  return Math.min(0, afterMs - otherMs);
}

export function judgeByDatabase(skewMs: number, maxSkewMs: number): ClockReading {
  const doubt =
    Math.abs(skewMs) > maxSkewMs
      ? `the clock of this machine is ${describeSkew(skewMs)} that of the database: set the wrong one of the two ` +
        `right. PHM_MAX_CLOCK_SKEW_SECONDS allows ${maxSkewMs / SECOND_MS} s`
      : null;
  return { against: 'database', skewMs, doubt };
}

/**
 * Holds a clock against the newest row and the last look at the clock. A doubt stays, whatever rows are made by that
 * clock, until the clock agrees with what was known before, or an operator accepts it.
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

/** The latest time that a clock which was believed has shown: no other should be far from it. 0: nothing is known. */
export function witnessedMs(check: ClockCheck | null, newestMs: number | null): number {
  if (check && !isWitness(check, newestMs)) return check.seenMs;
  return Math.max(check?.seenMs ?? 0, newestMs ?? 0);
}

/** Whether the newest row was made by a clock that was believed. */
function isWitness({ seenMs, doubtedMs }: ClockCheck, newestMs: number | null): boolean {
  return doubtedMs === null && newestMs !== null && newestMs <= seenMs + TRUSTED_AFTER_LOOK_MS;
}

function doubtedByRows(skewMs: number): ClockReading {
  const doubt =
    `the clock of this machine is ${describeSkew(skewMs)} the newest row of the ledger, so no row is removed. ` +
    'If this clock is wrong, set it right. If it is right (the service was off for days, or an earlier clock ' +
    'was wrong), run: phm ledger prune --accept-clock';
  return { against: 'rows', skewMs, doubt };
}

/** Such as "400 days ahead of". */
function describeSkew(skewMs: number): string {
  return `${describeSpan(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'}`;
}

function describeSpan(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.round(ms / DAY_MS)} days`;
  if (ms >= 2 * HOUR_MS) return `${Math.round(ms / HOUR_MS)} hours`;
  return `${Math.ceil(ms / SECOND_MS)} seconds`;
}

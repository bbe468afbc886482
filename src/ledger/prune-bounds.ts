/** How far one turn of pruning goes. */
import { DAY_MS, MINUTE_MS } from '../clock.ts';
import { firstMinuteKept } from './rollup.ts';

/** The key time, from the oldest row on, that one turn removes at most, so that a wrong clock can be noticed. */
const MAX_TURN_MS = 31 * DAY_MS;

/** The oldest that is there of either kind; null for none. */
export interface Oldest {
  readonly rowMs: number | null;
  readonly minute: number | null;
}

export interface PruneBounds {
  /** What is out of date is older than this. */
  readonly goalMs: number;
  readonly goalMinute: number;
  /** This turn removes what is older than this. */
  readonly beforeMs: number;
  readonly beforeMinute: number;
}

export function pruneBounds(nowMs: number, goalMs: number, { rowMs, minute }: Oldest): PruneBounds {
  const goalMinute = firstMinuteKept(nowMs);
  const beforeMs = Math.min(goalMs, (rowMs ?? Infinity) + MAX_TURN_MS);
  const beforeMinute = Math.min(goalMinute, (minute ?? Infinity) + MAX_TURN_MS / MINUTE_MS);
  return { goalMs, goalMinute, beforeMs, beforeMinute };
}

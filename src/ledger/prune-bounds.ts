/** Computes how far one pruning run reaches. */
import { DAY_MS, MINUTE_MS } from '../clock.ts';
import { firstMinuteKept } from './rollup.ts';

/**
 * Maximum span of key times that one run removes, from the oldest row on, so that an operator can
 * notice a wrong clock.
 */
const MAX_TURN_MS = 31 * DAY_MS;

/** The oldest row and the oldest sum by minute; null if there is none. */
interface Oldest {
  readonly rowMs: number | null;
  readonly minute: number | null;
}

export interface PruneBounds {
  /** End of the retention: rows older than this may be removed. */
  readonly goalMs: number;
  readonly goalMinute: number;
  /** This run removes rows older than this. */
  readonly beforeMs: number;
  readonly beforeMinute: number;
}

export function pruneBounds(nowMs: number, goalMs: number, { rowMs, minute }: Oldest): PruneBounds {
  const goalMinute = firstMinuteKept(nowMs);
  const beforeMs = Math.min(goalMs, (rowMs ?? Infinity) + MAX_TURN_MS);
  const beforeMinute = Math.min(goalMinute, (minute ?? Infinity) + MAX_TURN_MS / MINUTE_MS);
  return { goalMs, goalMinute, beforeMs, beforeMinute };
}

/** Decides when the next turn is due. */
import { SECOND_MS } from '../../clock.ts';

/** At most ten heads a second, even if receipts wait. */
const URGENT_INTERVAL_MS = 100;

/** With a longer interval, a waiting receipt does not hasten the next head: the interval hides when keys are generated. */
const LONGEST_HASTENED_MS = SECOND_MS;

/** Other processes add entries without a message: commands, and other servers of a PostgreSQL database. */
const POLL_MS = 2 * SECOND_MS;

/**
 * Rest after each transaction of a turn, in multiples of its time. Without rests, the entries of a busy second take a core
 * for a tenth of a second, and the keys of that time wait (measured).
 */
const REST_FACTOR = 4;

interface Work {
  /** This server has recorded keys since the last turn. */
  readonly entriesWait: boolean;
  readonly receiptsWait: boolean;
}

/** Returns milliseconds from one turn to the next. */
export function pauseMs(intervalMs: number, { entriesWait, receiptsWait }: Work): number {
  if (receiptsWait && intervalMs <= LONGEST_HASTENED_MS) {
    return Math.min(intervalMs, URGENT_INTERVAL_MS);
  }
  return entriesWait ? intervalMs : Math.max(intervalMs, POLL_MS);
}

/** Returns milliseconds of rest after a transaction that took `workedMs`. */
export function restMs(workedMs: number): number {
  return REST_FACTOR * workedMs;
}

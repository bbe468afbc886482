/** The two alarm levels of the health tests, and the alarm itself. */

/** `intermittent`: drop the samples and restart the tests. `permanent`: the source is broken. */
export type AlarmLevel = 'intermittent' | 'permanent';

/** One number for each level. */
export type Levels = Readonly<Record<AlarmLevel, number>>;

/**
 * log2 of the false alarm probability α. If a source is no better than its claim and gives a
 * million samples per second, false alarms occur on average at most once in 18 minutes
 * (intermittent) and once in 36,000 years (permanent).
 */
export const ALPHA_LOG2: Levels = { intermittent: -30, permanent: -60 };

export interface Alarm {
  readonly level: AlarmLevel;
  /** Index of the sample at which the test failed. */
  readonly sample: number;
}

/** Returns the worse of two alarms, or the earlier of two at the same level. */
export function worse<A extends Alarm>(a: A | null, b: A | null): A | null {
  if (a === null || b === null) return a ?? b;
  if (a.level !== b.level) return a.level === 'permanent' ? a : b;
  return a.sample <= b.sample ? a : b;
}

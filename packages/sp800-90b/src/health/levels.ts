/** The two levels of the health tests, and what a test that falls hands back. */

/** `intermittent`: drop the samples and test anew. `permanent`: the source is broken. */
export type AlarmLevel = 'intermittent' | 'permanent';

/** One figure a level. */
export type Levels = Readonly<Record<AlarmLevel, number>>;

/**
 * log2 of the false alarm probability α. Of a source that is no better than its claim, at a million
 * samples a second, chance meets the first every 18 minutes at most often, the second every 36,000
 * years.
 */
export const ALPHA_LOG2: Levels = { intermittent: -30, permanent: -60 };

export interface Alarm {
  readonly level: AlarmLevel;
  /** Index of the sample at which the test fell. */
  readonly sample: number;
}

/** The worse of two alarms; of two as bad, the earlier. */
export function worse<A extends Alarm>(a: A | null, b: A | null): A | null {
  if (a === null || b === null) return a ?? b;
  if (a.level !== b.level) return a.level === 'permanent' ? a : b;
  return a.sample <= b.sample ? a : b;
}

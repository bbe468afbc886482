/** The steps of a series, computed from the sums by minute or by hour. */

import { HOUR_MS, MINUTE_MS } from '../clock.ts';
import { addCounts, parseCounts, totalCount } from './latency.ts';
import type { PeriodSums, SeriesQuery } from './store.ts';

/** A row of `rollup_minute` or `rollup_hour`. */
export interface SumsRow extends Omit<PeriodSums, 'latencies'> {
  readonly period: number;
  readonly latencyCounts: string | null;
}

/** The sums behind a series: their table, and its periods from `first` to before `end`. */
interface SeriesSource {
  readonly table: 'rollup_minute' | 'rollup_hour';
  readonly first: number;
  readonly end: number;
}

/** Sums by hour if a step is a whole number of hours, else by minute. */
const periodMs = ({ stepMinutes }: SeriesQuery) => (stepMinutes % 60 === 0 ? HOUR_MS : MINUTE_MS);

export function seriesSource(query: SeriesQuery): SeriesSource {
  const ms = periodMs(query);
  const endMs = query.startMs + query.steps * query.stepMinutes * MINUTE_MS;
  const table = ms === HOUR_MS ? 'rollup_hour' : 'rollup_minute';
  return { table, first: query.startMs / ms, end: endMs / ms };
}

/** Returns the steps in order, including those without requests. */
export function toSeries(query: SeriesQuery, rows: readonly SumsRow[]): PeriodSums[] {
  const ms = periodMs(query);
  const steps = Array.from({ length: query.steps }, () => new StepSums());
  for (const row of rows) {
    const atMs = row.period * ms - query.startMs;
    steps[Math.floor(atMs / (query.stepMinutes * MINUTE_MS))]?.add(row);
  }
  return steps.map((step) => step.sums());
}

class StepSums {
  #keys = 0;
  #latencyUs = 0;
  #streams = 0;
  #streamsPassed = 0;
  #metered = 0;
  #failures = 0;
  readonly #latencies: number[] = [];

  add(row: SumsRow): void {
    this.#keys += row.keys;
    this.#latencyUs += row.latencyUs;
    this.#streams += row.streams;
    this.#streamsPassed += row.streamsPassed;
    this.#metered += row.metered;
    this.#failures += row.failures;
    if (row.latencyCounts !== null) addCounts(this.#latencies, parseCounts(row.latencyCounts));
  }

  sums(): PeriodSums {
    return {
      keys: this.#keys,
      latencyUs: this.#latencyUs,
      streams: this.#streams,
      streamsPassed: this.#streamsPassed,
      metered: this.#metered,
      failures: this.#failures,
      latencies: totalCount(this.#latencies) === this.#keys ? this.#latencies : null,
    };
  }
}

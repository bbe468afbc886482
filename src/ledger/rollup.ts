/** Sums by account and period, collected over a batch and written once. */
import { HOUR_MS, MINUTE_MS } from '../clock.ts';
import { countLatency } from './latency.ts';
import { meteredUnits } from './quota-decision.ts';
import type { FailedRequest, MeteredRequest } from './store.ts';

/** What one batch adds to one account's period. */
interface RollupDelta {
  readonly accountId: string;
  readonly period: number;
  keys: number;
  latencyUs: number;
  streams: number;
  streamsPassed: number;
  metered: number;
  failures: number;
  /** Latency counts by bucket. */
  readonly latencies: number[];
}

/**
 * Returns where a period from `sinceMs` to now begins: its leading part of an hour comes from the minutes,
 * the rest from the hours. The current hour's sum holds everything up to now, so nothing is counted twice
 * or left out.
 */
export function splitPeriod(sinceMs: number): { firstMinute: number; firstHour: number } {
  const firstMinute = Math.floor(sinceMs / MINUTE_MS);
  return { firstMinute, firstHour: Math.ceil((firstMinute * MINUTE_MS) / HOUR_MS) };
}

/** The longest period of the metrics is 8,760 hours; one more allows for a skew between servers' clocks. */
const MINUTES_KEPT_MS = 8_761 * HOUR_MS;

/**
 * Returns the first minute whose sum a request may still need. Minutes are needed only for the leading part
 * of the longest period.
 */
export function firstMinuteKept(nowMs: number): number {
  return Math.floor((nowMs - MINUTES_KEPT_MS) / MINUTE_MS);
}

/** Collects the deltas of a batch for one period length. */
export class Rollup {
  readonly #periodMs: number;
  readonly #deltas = new Map<string, RollupDelta>();

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  addRequest(request: MeteredRequest): void {
    const delta = this.#at(request.accountId, request.atMs);
    delta.metered += meteredUnits(request);
    delta.keys += request.keys.length;
    for (const { latencyUs } of request.keys) {
      delta.latencyUs += latencyUs;
      countLatency(delta.latencies, latencyUs);
    }
    delta.streams += request.counts.streams;
    delta.streamsPassed += request.counts.streamsPassed;
  }

  addFailure(failure: FailedRequest): void {
    const delta = this.#at(failure.accountId, failure.atMs);
    delta.failures += 1;
    delta.streams += failure.counts.streams;
    delta.streamsPassed += failure.counts.streamsPassed;
  }

  deltas(): Iterable<RollupDelta> {
    return this.#deltas.values();
  }

  #at(accountId: string, atMs: number): RollupDelta {
    const period = Math.floor(atMs / this.#periodMs);
    const name = `${accountId}/${period}`;
    let delta = this.#deltas.get(name);
    if (!delta) {
      delta = {
        accountId,
        period,
        keys: 0,
        latencyUs: 0,
        streams: 0,
        streamsPassed: 0,
        metered: 0,
        failures: 0,
        latencies: [],
      };
      this.#deltas.set(name, delta);
    }
    return delta;
  }
}

/**
 * The final decision on a quota, inside the transaction that records the key.
 *
 * SQLite decides by `decide`, in `sqlite/writer.ts`. PostgreSQL applies the same rule in SQL, in the newest
 * `write_batch_N` and its `decide_batch` of `migrations/postgres/` (`0010-sealed-keys.sql`), and `postgres/writer.ts` compares
 * the two.
 * `isExhausted` of `accounts/` only saves the work for a request that is certain to be refused.
 */
import type { CommitOutcome, MeteredRequest, StoredAnswer, Usage } from './store.ts';

/** Monthly quota by plan name; null is unlimited. */
export type Quotas = Readonly<Record<string, number | null>>;

/** An account's usage of a month, updated as a batch is decided. */
export interface Counter {
  /** Months since year 0, UTC. */
  readonly month: number;
  used: number;
  /** Undefined if this server lacks the account's plan. */
  readonly quota: number | null | undefined;
}

/** Returns what a request takes from the quota: one for each key, and one for a validation. */
export function meteredUnits({ keys }: Pick<MeteredRequest, 'keys'>): number {
  return Math.max(1, keys.length);
}

/** What the ledger knows about one request. */
export interface Facts {
  /** The answer of an earlier request with the same `Idempotency-Key`; null without one. */
  readonly answer: StoredAnswer | null;
  /**
   * Writes the request's rows and its record. Returns false, and writes nothing, if the ledger already holds one
   * of the commitments. Not called for a request that is replayed or refused.
   */
  record(): boolean;
}

/** Decides one request and counts it: a replay first, then plan and quota, then a repeated key. */
export function decide(
  counter: Counter,
  request: Pick<MeteredRequest, 'keys'>,
  facts: Facts,
): CommitOutcome {
  const { month, used } = counter;
  const { answer } = facts;
  if (answer) return { kind: 'replayed', answer, usage: usageOf(counter) };
  const { quota } = counter;
  if (quota === undefined) return { kind: 'unknown_plan' };
  const units = meteredUnits(request);
  if (quota !== null && used + units > quota) {
    return { kind: 'quota_exceeded', usage: { month, used, quota } };
  }
  if (!facts.record()) return { kind: 'repeated_key' };
  counter.used = used + units;
  return { kind: 'committed', usage: { month, used: counter.used, quota } };
}

/** Returns the quota of a plan; undefined if this server lacks the plan. */
export function quotaOfPlan(quotas: Quotas, plan: unknown): number | null | undefined {
  return Object.hasOwn(quotas, String(plan)) ? quotas[String(plan)] : undefined;
}

/** Returns the usage for callers. An account whose plan this server lacks has a quota of 0. */
export function usageOf({ month, used, quota }: Counter): Usage {
  return { month, used, quota: quota === undefined ? 0 : quota };
}

/**
 * The final decision on a quota, inside the transaction that records the key.
 *
 * SQLite decides by `decide`, in `sqlite/writer.ts`. PostgreSQL applies the same rule in SQL, in the newest
 * `write_batch_N` of `migrations/postgres/` (`0009-transparency-log.sql`), and `postgres/writer.ts` compares
 * the two.
 * `isExhausted` of `accounts/` only saves the work for a request that is certain to be refused.
 */
import type { CommitOutcome, MeteredRequest } from './store.ts';

/** Monthly quota by plan name; null is unlimited. */
export type Quotas = Readonly<Record<string, number | null>>;

/** An account's usage of a month, updated as a batch is decided. */
export interface Counter {
  /** Months since year 0, UTC. */
  readonly month: number;
  used: number;
  readonly quota: number | null;
}

/** Returns what a request takes from the quota: one for each key, and one for a validation. */
export function meteredUnits({ keys }: Pick<MeteredRequest, 'keys'>): number {
  return Math.max(1, keys.length);
}

/**
 * Decides one request that takes `units` and counts it. `record` writes its rows and returns false if the ledger
 * already holds one of their commitments. It is not called for a request that the quota refuses.
 */
export function decide(counter: Counter, units: number, record: () => boolean): CommitOutcome {
  const { month, used, quota } = counter;
  if (quota !== null && used + units > quota) {
    return { kind: 'quota_exceeded', usage: { month, used, quota } };
  }
  if (!record()) return { kind: 'repeated_key' };
  counter.used = used + units;
  return { kind: 'committed', usage: { month, used: counter.used, quota } };
}

/** Throws `TypeError` for a request that the schema has no columns for yet. */
export function requireKnown({ keys, idempotency }: MeteredRequest): void {
  if (idempotency === null && keys.every(({ sealed }) => sealed === null)) return;
  throw new TypeError('"request" expected no idempotency record and no sealed key, got one');
}

/** Returns the quota of an account's plan. Throws if the table has no such plan. */
export function quotaOfPlan(quotas: Quotas, plan: unknown, accountId: unknown): number | null {
  const quota = quotas[String(plan)];
  if (quota === undefined) {
    throw new Error(`account ${accountId} has the plan ${String(plan)}, which has no quota`);
  }
  return quota;
}

/**
 * The final decision on a quota, inside the transaction that records the key.
 *
 * SQLite decides by `decide`, in `sqlite/writer.ts`. PostgreSQL applies the same rule in SQL, in the newest
 * `write_batch_N` of `migrations/postgres/` (`0009-transparency-log.sql`), and `postgres/writer.ts` compares
 * the two.
 * `isExhausted` of `accounts/` only saves the work for a request that is certain to be refused.
 */
import type { CommitOutcome } from './store.ts';

/** Monthly quota by plan name; null is unlimited. */
export type Quotas = Readonly<Record<string, number | null>>;

/** An account's usage of a month, updated as a batch is decided. */
export interface Counter {
  /** Months since year 0, UTC. */
  readonly month: number;
  used: number;
  readonly quota: number | null;
}

/**
 * Decides one request and counts it. `record` writes its row and returns false if the ledger already holds
 * its commitment. It is not called for a request that the quota refuses.
 */
export function decide(counter: Counter, record: () => boolean): CommitOutcome {
  const { month, used, quota } = counter;
  if (quota !== null && used >= quota) {
    return { kind: 'quota_exceeded', usage: { month, used, quota } };
  }
  if (!record()) return { kind: 'repeated_key' };
  counter.used = used + 1;
  return { kind: 'committed', usage: { month, used: counter.used, quota } };
}

/** Returns the quota of an account's plan. Throws if the table has no such plan. */
export function quotaOfPlan(quotas: Quotas, plan: unknown, accountId: unknown): number | null {
  const quota = quotas[String(plan)];
  if (quota === undefined) {
    throw new Error(`account ${accountId} has the plan ${String(plan)}, which has no quota`);
  }
  return quota;
}

/**
 * The quota decision, which counts: it falls in the transaction that records the key.
 *
 * SQLite decides by `decide`, in `sqlite/writer.ts`. PostgreSQL decides by the same rule in SQL, in the newest
 * `write_batch_N` of `migrations/postgres/` (`0008-clock.sql`), and `postgres/writer.ts` holds that to this rule.
 * `isExhausted` of `accounts/` only spares a request its work when the refusal is certain.
 */
import type { CommitOutcome } from './store.ts';

/** Monthly quota by plan name; null is unlimited. */
export type Quotas = Readonly<Record<string, number | null>>;

/** What an account has used of a month, as a batch counts on. */
export interface Counter {
  /** Months since year 0, UTC. */
  readonly month: number;
  used: number;
  readonly quota: number | null;
}

/**
 * Decides one request and counts it. `record` writes its row, and is false if its commitment is in the ledger already;
 * a request that the quota refuses is not recorded.
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

/** The quota of an account's plan. Throws for a plan that has none in the table. */
export function quotaOfPlan(quotas: Quotas, plan: unknown, accountId: unknown): number | null {
  const quota = quotas[String(plan)];
  if (quota === undefined) {
    throw new Error(`account ${accountId} has the plan ${String(plan)}, which has no quota`);
  }
  return quota;
}

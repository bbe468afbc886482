/**
 * The final decision on a quota, inside the transaction that records the key.
 *
 * SQLite decides by `decide`, in `sqlite/writer.ts`. PostgreSQL applies the same rule in SQL, in the newest
 * `write_batch_N` of `migrations/postgres/` and the `decide_batch_N` that it calls, and `postgres/batch-decision.ts` compares
 * the two. `isExhausted` of `accounts/` only saves the work for a request that is certain to be refused.
 */
import type { ApiKeyLimit } from './api-keys.ts';
import type { DeliveryRefusal } from './deliveries.ts';
import type { CommitOutcome, MeteredRequest, StoredAnswer } from './store.ts';
import { tighterUsage, type Usage } from './usage.ts';

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

/** What an API key with a monthly limit has used, updated as a batch is decided. */
export interface ApiKeyCounter {
  used: number;
}

/** Returns what a request takes from the quota: one for each key, and one for a validation. */
export function meteredUnits({ keys }: Pick<MeteredRequest, 'keys'>): number {
  return Math.max(1, keys.length);
}

/** What the ledger knows about one request. */
interface Facts {
  /** The counter of the request's `apiKeyLimit`; absent without one. */
  readonly apiKeyCounter?: ApiKeyCounter | undefined;
  /** The answer of an earlier request with the same `Idempotency-Key`; null without one. */
  readonly answer: StoredAnswer | null;
  /** Returns why the keys cannot be delivered; null if they can, or need not. Not called for a request that is replayed or refused. */
  refuseDelivery(): DeliveryRefusal | null;
  /**
   * Writes the request's rows and its record. Returns false, and writes nothing, if the ledger already holds one
   * of the commitments. Not called for a request that is replayed or refused.
   */
  record(): boolean;
}

/**
 * Decides one request and counts it: a replay first, then plan and quota, then the limit of the API key, then its deliveries,
 * then a repeated key.
 */
export function decide(
  counter: Counter,
  request: Pick<MeteredRequest, 'keys' | 'apiKeyLimit'>,
  facts: Facts,
): CommitOutcome {
  const { month, used } = counter;
  const { answer, apiKeyCounter } = facts;
  const limit = request.apiKeyLimit;
  const tightest = () =>
    tighterUsage(
      usageOf(counter),
      limit && apiKeyCounter && limitUsage(month, limit, apiKeyCounter),
    );
  if (answer) return { kind: 'replayed', answer, usage: tightest() };
  const { quota } = counter;
  if (quota === undefined) return { kind: 'unknown_plan' };
  const units = meteredUnits(request);
  if (quota !== null && used + units > quota) {
    return { kind: 'quota_exceeded', usage: { month, used, quota } };
  }
  if (limit && apiKeyCounter && apiKeyCounter.used + units > limit.limit) {
    return { kind: 'quota_exceeded', usage: limitUsage(month, limit, apiKeyCounter) };
  }
  const refusal = facts.refuseDelivery();
  if (refusal) return { kind: 'delivery_refused', refusal };
  if (!facts.record()) return { kind: 'repeated_key' };
  counter.used = used + units;
  if (apiKeyCounter) apiKeyCounter.used += units;
  return { kind: 'committed', usage: tightest() };
}

function limitUsage(
  month: number,
  { limit, counterId }: ApiKeyLimit,
  { used }: ApiKeyCounter,
): Usage {
  return { month, used, quota: limit, counterId };
}

/** Returns the quota of a plan; undefined if this server lacks the plan. */
export function quotaOfPlan(quotas: Quotas, plan: unknown): number | null | undefined {
  return Object.hasOwn(quotas, String(plan)) ? quotas[String(plan)] : undefined;
}

/** Returns the usage for callers. An account whose plan this server lacks has a quota of 0. */
export function usageOf({ month, used, quota }: Counter): Usage {
  return { month, used, quota: quota === undefined ? 0 : quota };
}

/** What `COMMIT_BATCH` decides on a batch, and the outcome of each of its requests. */
import { decide } from '../quota-decision.ts';
import type { CommitOutcome, MeteredRequest, StoredAnswer } from '../store.ts';
import { madeAnswer } from './answers.ts';
import { isOfGroup, type RefusalJson, toRefusal } from './deliveries.ts';

/** Stands for the quota of a plan that this server lacks. No request fits into it. */
export const NO_PLAN = -1;

/** Decision of `COMMIT_BATCH`: usage before the batch, and the requests that are not decided by the quota. */
export interface Decision {
  readonly counters: readonly {
    readonly accountId: string;
    readonly month: number;
    readonly used: number;
    readonly quota: number | null;
  }[];
  /** Usage of the monthly limits of API keys. */
  readonly apiKeyCounters: readonly { readonly counterId: string; readonly used: number }[];
  /** Positions in the batch of requests with a stored answer. */
  readonly answered: readonly number[];
  /** Positions in the batch of requests with a repeated key. */
  readonly repeated: readonly number[];
  /** Requests that cannot be delivered. */
  readonly refusals: readonly RefusalJson[];
  readonly committed: number;
  /** Accounts whose rows other sessions lock. Their requests and failed requests were left out. */
  readonly deferred: readonly string[];
}

/** A decision, with the stored answers by position. */
export interface Decided {
  readonly decision: Decision;
  readonly answers: ReadonlyMap<number, StoredAnswer>;
}

/** Converts the decision to one outcome per request, by the rule of `COMMIT_BATCH`. */
export function outcomesOf(
  requests: readonly MeteredRequest[],
  { decision, answers }: Decided,
): CommitOutcome[] {
  const answered = new Set(decision.answered);
  const repeated = new Set(decision.repeated);
  const refusals = new Map(decision.refusals.map((one) => [one.position, toRefusal(one)]));
  // Whether earlier requests are in the way of these is known after this batch.
  const isForLater = new Set(decision.refusals.filter(isOfGroup).map(({ position }) => position));
  const counters = new Map(
    decision.counters.map((counter) => [
      counter.accountId,
      {
        month: counter.month,
        used: Number(counter.used),
        quota: counter.quota === NO_PLAN ? undefined : counter.quota,
      },
    ]),
  );
  const locked = new Set(decision.deferred);
  const apiKeyCounters = new Map(
    decision.apiKeyCounters.map(({ counterId, used }) => [counterId, { used: Number(used) }]),
  );
  /** Answers of requests that this batch has committed, by account and key. */
  const made = new Map<string, StoredAnswer>();
  const outcomes = requests.map((request, position): CommitOutcome => {
    const { accountId, idempotency } = request;
    if (locked.has(accountId)) return { kind: 'account_locked' };
    const counter = counters.get(accountId);
    if (!counter) throw new Error('the database omitted an account of the batch');
    const name = idempotency && `${accountId} ${idempotency.key}`;
    const answer = answers.get(position) ?? (name === null ? null : made.get(name));
    if (answered.has(position) && !answer) throw new Error('a stored answer has expired');
    const record = () => !repeated.has(position);
    const apiKeyCounter = apiKeyCounters.get(request.apiKeyLimit?.counterId ?? '');
    const refusal = refusals.get(position) ?? null;
    const facts = { apiKeyCounter, answer: answer ?? null, refuseDelivery: () => refusal, record };
    const outcome = decide(counter, request, facts);
    if (outcome.kind === 'delivery_refused' && isForLater.has(position))
      return { kind: 'account_locked' };
    if (outcome.kind === 'committed' && name !== null) made.set(name, madeAnswer(request));
    return outcome;
  });
  const committed = outcomes.filter(({ kind }) => kind === 'committed').length;
  if (committed !== decision.committed) throw new Error('the database decided otherwise');
  return outcomes;
}

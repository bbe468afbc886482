/**
 * The part that all requests share that count against a quota: who asks, the early check of the quota, and tasks of the key
 * worker. Validations need no more.
 */

import { isExhausted } from '../../accounts/index.ts';
import { wipe } from '../../bytes.ts';
import type { Clock } from '../../clock.ts';
import { parseKey, type ValidateOutcome } from '../../keys/validate.ts';
import type { Principal, QuotaExceeded, Usage } from '../../ledger/index.ts';
import type { ApiKeyCache } from '../access/api-key-cache.ts';
import type { KeyObserver, StageListener } from '../observer.ts';
import { toError, unexpected } from '../threads/failures.ts';
import type { KeyTask, Requester } from '../threads/messages.ts';
import type { KeyQueue, SettledResult } from './queue.ts';

/** A task for one account. Its result may hold the account's usage. */
type MeteredTask = Extract<KeyTask, { readonly requester: Requester }>;

/** Parts of the service that a metered request uses. */
interface MeteredParts {
  readonly queue: KeyQueue;
  readonly apiKeys: ApiKeyCache;
  readonly clock: Clock;
  /** Time on the clock of quota months. */
  readonly quotaNowMs: () => number;
  readonly observer: KeyObserver | undefined;
}

export class MeteredRequests {
  readonly #parts: MeteredParts;

  constructor(parts: MeteredParts) {
    this.#parts = parts;
  }

  /** Validates a key given as text, and counts the request. */
  async validate(
    principal: Principal,
    keyText: string,
    proof: string | undefined,
    onStage?: StageListener,
  ): Promise<ValidateOutcome> {
    const requester = this.requester(principal);
    const exhausted = this.exhausted(principal, 1);
    if (exhausted) return exhausted;
    const key = parseKey(keyText);
    const task: KeyTask = { kind: 'validate', requester, key, proof };
    const result = await this.submit(task, undefined, onStage).catch((error) => {
      // If the queue refused the task, the key is still here. After its transfer the buffer is empty.
      if (key?.length) wipe(key);
      throw error;
    });
    if (result.kind !== 'validated' && result.kind !== 'quota_exceeded') throw unexpected(result);
    if (result.kind === 'validated') this.#parts.observer?.keyValidated(result.verdict);
    return result;
  }

  requester({ accountId, apiKeyId, rules }: Principal): Requester {
    const requester = { accountId, apiKeyId, atMs: this.#parts.clock.nowMs() };
    return rules?.monthly ? { ...requester, apiKeyLimit: rules.monthly } : requester;
  }

  /**
   * Refuses early if the quota, or the limit of the API key, is known to have no room for `count` requests. The transaction decides all other cases.
   */
  exhausted(principal: Principal, count: number): QuotaExceeded | undefined {
    const usage = this.usageOf(principal);
    return isExhausted(usage, this.#parts.quotaNowMs(), count)
      ? { kind: 'quota_exceeded', usage }
      : undefined;
  }

  usageOf(principal: Principal): Usage {
    return this.#parts.apiKeys.usageOf(principal);
  }

  /** Has the key worker do a task, and notes the account's usage. Rejects with the task's failure. */
  async submit(
    task: MeteredTask,
    abandoned?: () => boolean,
    onStage?: StageListener,
  ): Promise<Exclude<SettledResult, { kind: 'failed' }>> {
    const result = await this.#parts.queue.submit(task, abandoned, onStage);
    if (result.kind === 'failed') throw toError(result.failure);
    if ('usage' in result) {
      this.#parts.apiKeys.noteUsage(task.requester.accountId, result.usage);
    }
    return result;
  }
}

/**
 * Handles the requests that count against a quota, generate and validate, on the main thread: from the early check of
 * the quota to the released key or the verdict.
 */
import { isExhausted } from '../accounts/index.ts';
import { wipe } from '../bytes.ts';
import type { Clock } from '../clock.ts';
import { AppError, ERRORS } from '../errors.ts';
import { latchedError } from '../keys/generator.ts';
import { wipeKey } from '../keys/key-receipt.ts';
import type { Latch } from '../keys/latch.ts';
import {
  type GeneratedKey,
  type GenerateOutcome,
  type KeyRequest,
  type ReleasedKey,
  releasedKey,
  type SealedResponseKey,
} from '../keys/order.ts';
import { parseKey, type ValidateOutcome } from '../keys/validate.ts';
import type { Principal, QuotaExceeded } from '../ledger/index.ts';
import type { ApiKeyCache } from './api-key-cache.ts';
import { type LedgerWatch, requireCurrentSecret } from './ledger-watch.ts';
import { type KeyTask, NO_STREAMS, type Requester, toError, unexpected } from './messages.ts';
import type { KeyObserver, StageListener } from './observer.ts';
import type { KeyQueue, SettledResult } from './queue.ts';
import type { SuitePool } from './suite-pool.ts';

/** A task that counts against a quota. Its result holds the account's usage. */
type MeteredTask = Extract<KeyTask, { readonly requester: Requester }>;

/** Parts of the service that a request uses. */
interface Parts {
  readonly latch: Latch;
  readonly queue: KeyQueue;
  readonly pool: SuitePool;
  readonly ledger: LedgerWatch;
  readonly apiKeys: ApiKeyCache;
  readonly clock: Clock;
  /** Time on the clock of quota months. */
  readonly quotaNowMs: () => number;
  readonly observer: KeyObserver | undefined;
}

/** What the caller of `generate` adds to a request. */
export interface GenerateOptions {
  /** Returns true if the client has disconnected while the request waits. */
  readonly abandoned: () => boolean;
  readonly onStage?: StageListener | undefined;
  /**
   * Returns the body of the response to a sealed request, without receipts. It is called after sealing and before the
   * commit, and the store keeps its result with an `Idempotency-Key`. Required for sealed requests.
   */
  readonly render?: ((keys: readonly SealedResponseKey[], createdMs: number) => string) | undefined;
}

export class MeteredRequests {
  readonly #parts: Parts;
  #released = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Number of keys released so far. */
  get released(): number {
    return this.#released;
  }

  /**
   * Generates and records keys. If the latch was set after their rows became durable, the keys are wiped here and the
   * rows stay.
   */
  async generate(
    principal: Principal,
    request: KeyRequest,
    options: GenerateOptions,
  ): Promise<GenerateOutcome> {
    const { order, count, sealTo, idempotency } = request;
    if (count !== 1 || sealTo || idempotency) throw new Error('not built yet');
    const outcome = await this.#generate(principal, request, options);
    if (outcome.kind === 'generated') {
      this.#refuseIfLatched(outcome.keys);
      this.#released += 1;
      this.#parts.observer?.keyGenerated(order);
    }
    return outcome;
  }

  #refuseIfLatched(keys: readonly ReleasedKey[]): void {
    const defect = this.#parts.latch.read();
    if (!defect) return;
    for (const key of keys) wipeKey(key);
    throw latchedError(defect);
  }

  async #generate(
    principal: Principal,
    { order }: KeyRequest,
    { abandoned, onStage }: GenerateOptions,
  ): Promise<GenerateOutcome> {
    const requester = this.#requester(principal);
    const exhausted = this.#exhausted(principal);
    if (exhausted) return exhausted;
    let counts = NO_STREAMS;
    try {
      requireCurrentSecret(this.#parts.ledger.status());
      if (!order.withEvidence) {
        const task: MeteredTask = { kind: 'generate', requester, order };
        return await this.#generatePlain(task, abandoned, onStage);
      }
      const { accountId } = principal;
      const reply = await this.#parts.pool.submit({ order }, accountId, abandoned, onStage);
      counts = reply.counts;
      if (reply.result.kind === 'failed') {
        throw toError(reply.result.failure);
      }
      const { generated } = reply.result;
      const task = { kind: 'record', requester, order, counts: reply.counts } as const;
      return await this.#record(task, generated, onStage);
    } catch (error) {
      if (isServerError(error)) {
        this.#parts.queue.recordFailure({
          accountId: requester.accountId,
          atMs: requester.atMs,
          counts,
        });
      }
      throw error;
    }
  }

  async #generatePlain(
    task: MeteredTask,
    abandoned: () => boolean,
    onStage: StageListener | undefined,
  ): Promise<GenerateOutcome> {
    const result = await this.#submit(task, abandoned, onStage);
    if (result.kind !== 'generated' && result.kind !== 'quota_exceeded') throw unexpected(result);
    return result;
  }

  /** Records a key of a suite worker. The key is released only when its row is durable. */
  async #record(
    task: Omit<KeyTask & { kind: 'record' }, 'generated'>,
    made: GeneratedKey,
    onStage: StageListener | undefined,
  ): Promise<GenerateOutcome> {
    const { key, opening, report, ...generated } = made;
    let recorded = false;
    try {
      const result = await this.#parts.queue.submit({ ...task, generated }, undefined, onStage);
      if (result.kind === 'failed') throw toError(result.failure);
      if (result.kind === 'recorded') {
        recorded = true;
        this.#parts.apiKeys.noteUsage(task.requester.accountId, result.usage);
        const { atMs: createdMs } = task.requester;
        return { kind: 'generated', createdMs, keys: [releasedKey(made)], usage: result.usage };
      }
      if (result.kind === 'quota_exceeded') return result;
      throw unexpected(result);
    } finally {
      if (!recorded) wipeKey({ key, opening });
    }
  }

  /** Validates a key given as text, and counts the request. */
  async validate(
    principal: Principal,
    keyText: string,
    proof: string | undefined,
    onStage?: StageListener,
  ): Promise<ValidateOutcome> {
    const requester = this.#requester(principal);
    const exhausted = this.#exhausted(principal);
    if (exhausted) return exhausted;
    const key = parseKey(keyText);
    const task: MeteredTask = { kind: 'validate', requester, key, proof };
    const result = await this.#submit(task, undefined, onStage).catch((error) => {
      // If the queue refused the task, the key is still here. After its transfer the buffer is empty.
      if (key?.length) wipe(key);
      throw error;
    });
    if (result.kind !== 'validated' && result.kind !== 'quota_exceeded') throw unexpected(result);
    if (result.kind === 'validated') this.#parts.observer?.keyValidated(result.verdict);
    return result;
  }

  #requester({ accountId, apiKeyId }: Principal): Requester {
    return { accountId, apiKeyId, atMs: this.#parts.clock.nowMs() };
  }

  /** Refuses early if the quota is known to be used up. The transaction decides all other cases. */
  #exhausted(principal: Principal): QuotaExceeded | undefined {
    const usage = this.#parts.apiKeys.usageOf(principal);
    return isExhausted(usage, this.#parts.quotaNowMs())
      ? { kind: 'quota_exceeded', usage }
      : undefined;
  }

  async #submit(
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

function isServerError(error: unknown): boolean {
  return !(error instanceof AppError) || ERRORS[error.code].status >= 500;
}

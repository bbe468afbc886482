/**
 * Handles requests for keys on the main thread: from the early checks to the released keys.
 *
 * The key worker generates and records single plain keys. Suite workers make all other keys: sealed, validated, and those
 * of batches. The main thread has their keys and rows, and the key worker records the rows of a request together. With a
 * recipient, only the sealed form of the keys reaches the main thread.
 */

import { AppError, ERRORS } from '../../errors.ts';
import { entropyUnavailable } from '../../keys/generator.ts';
import {
  deliveredUntilMs,
  type GenerateOutcome,
  type KeyRequest,
  MAX_BATCH_KEYS,
  type Recipient,
  type SealedResponseKey,
} from '../../keys/order.ts';
import type {
  BoxLimits,
  DeliveryOrder,
  Principal,
  StoredAnswer,
  StreamCounts,
  Usage,
} from '../../ledger/index.ts';
import { type LedgerWatch, requireCurrentSecret } from '../ledger/watch.ts';
import { requireNoHalt } from '../log/halted.ts';
import type { Halt } from '../log/stopped.ts';
import type { KeyObserver, StageListener } from '../observer.ts';
import type { EvidenceWatch } from '../suite/evidence-watch.ts';
import type { SuitePool } from '../suite/pool.ts';
import type { AllKeys, KeyWork, SuiteWork } from '../suite/work.ts';
import { unexpected } from '../threads/failures.ts';
import { NO_STREAMS, type PlainKeyGenerated, type Requester } from '../threads/messages.ts';
import { InProgress, replay } from './idempotency.ts';
import type { MeteredRequests } from './metered-requests.ts';
import type { KeyQueue } from './queue.ts';
import { namesIn, recipientsOf, type ToMake } from './recipients.ts';
import { FAILED_MEANWHILE, type Releases } from './releases.ts';
import { bodyTooLarge, tooLargeToStore, tooManyCopies } from './stored-size.ts';

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

/** Parts of the service that a request for keys uses. */
interface Parts {
  readonly queue: KeyQueue;
  readonly pool: SuitePool;
  readonly evidence: Pick<EvidenceWatch, 'failures'>;
  readonly ledger: LedgerWatch;
  /** Why the log lets no key leave; null if keys may. */
  readonly halt: () => Halt | null;
  readonly metered: MeteredRequests;
  readonly releases: Releases;
  readonly observer: KeyObserver | undefined;
  /** Limits of the box of each recipient. */
  readonly boxLimits: BoxLimits;
  /** Called when deliveries to these recipients are durable. */
  readonly onDelivered: (accountId: string, recipients: readonly string[]) => void;
}

/** A request on its way. */
interface Call extends GenerateOptions {
  readonly principal: Principal;
  readonly requester: Requester;
  readonly request: KeyRequest;
}

export class KeyRequests {
  readonly #parts: Parts;
  readonly #inProgress = new InProgress();
  #released = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Number of keys released so far. */
  get released(): number {
    return this.#released;
  }

  /**
   * Generates and records the keys of a request: all of them, or none. If a defect was found after their rows became
   * durable, the keys are wiped here and the rows stay.
   */
  async generate(
    principal: Principal,
    request: KeyRequest,
    options: GenerateOptions,
  ): Promise<GenerateOutcome> {
    assertRequest(request, options);
    const requester = this.#parts.metered.requester(principal);
    const call: Call = { ...options, principal, requester, request };
    const outcome = await this.#inProgress.run(principal.accountId, request.idempotency, () =>
      isForKeyWorker(request) ? this.#onePlainKey(call) : this.#suiteKeys(call),
    );
    if (outcome.kind === 'generated' || outcome.kind === 'sealed') {
      const refused = this.#parts.releases.refuseUnsound(outcome);
      if (refused) await refused;
    }
    this.#count(request, outcome);
    return outcome;
  }

  /** Has the key worker generate and record one plain key, without another round trip for an `Idempotency-Key`. */
  async #onePlainKey(call: Call): Promise<GenerateOutcome> {
    const { requester, request, abandoned, onStage } = call;
    const { order, idempotency } = request;
    const { metered } = this.#parts;
    const refused = this.#refused(call);
    if (refused && !idempotency) return refused;
    // Not `#countingFailure`: its function and promises would be most of what a key costs here.
    try {
      if (refused) {
        const recalled = await this.#recall(call);
        return recalled.kind === 'to_make' ? refused : recalled;
      }
      requireCurrentSecret(this.#parts.ledger.status());
      requireNoHalt(this.#parts.halt());
      const task = { kind: 'generate', requester, order, idempotency } as const;
      const result = await metered.submit(task, abandoned, onStage);
      if (result.kind === 'quota_exceeded') return result;
      if (result.kind === 'generated') return this.#withholdable(result);
      if (result.kind === 'replayed') return this.#replay(call, result.answer, result.usage);
      throw unexpected(result);
    } catch (error) {
      this.#noteFailure(requester, error, NO_STREAMS);
      throw error;
    }
  }

  /** Fields by name: a spread costs more than the rest of this function. */
  #withholdable({ createdMs, keys, usage, failures }: PlainKeyGenerated): GenerateOutcome {
    const { evidence } = this.#parts;
    const mayRelease = () => evidence.failures === failures;
    return { kind: 'generated', createdMs, keys, usage, mayRelease };
  }

  /** Returns why no new key may be generated; null if one may. A retry is answered all the same. */
  #refused({ principal, requester: { atMs }, request }: Call): GenerateOutcome | null {
    const { expiresMs } = request.order;
    if (expiresMs !== null && expiresMs <= atMs) return { kind: 'expired', atMs };
    return this.#parts.metered.exhausted(principal, request.count) ?? null;
  }

  /** Has suite workers make the keys, and the key worker record them. */
  async #suiteKeys(call: Call): Promise<GenerateOutcome> {
    const { requester, request, abandoned, onStage } = call;
    const { order, count, isBatch } = request;
    return this.#countingFailure(call, async (noteWork) => {
      const recalled = await this.#recall(call);
      if (recalled.kind !== 'to_make') return recalled;
      const refused = this.#refused(call);
      if (refused) return refused;
      requireCurrentSecret(this.#parts.ledger.status());
      requireNoHalt(this.#parts.halt());
      const { recipients } = recalled;
      const { delivery } = request;
      const keyWork: KeyWork = { requester, order, recipients, delivery, count, isBatch };
      const tooLarge =
        tooManyCopies(request) ??
        tooLargeToStore(request, recipients) ??
        this.#parts.pool.tooLarge(keyWork);
      if (tooLarge) return tooLarge;
      const work = this.#parts.pool.submit(keyWork, abandoned, onStage);
      noteWork(work);
      try {
        return await this.#record(call, work, recipients);
      } finally {
        work.drop();
      }
    });
  }

  /**
   * Returns the outcome of an earlier request with the same `Idempotency-Key`, or the recipients of the keys to make.
   * Without either, no task is sent.
   */
  async #recall(call: Call): Promise<GenerateOutcome | ToMake> {
    const { requester, principal, abandoned, onStage } = call;
    const { sealTo, idempotency } = call.request;
    const { metered } = this.#parts;
    const asked = sealTo ?? [];
    const names = namesIn(asked);
    const ids = call.request.delivery?.ids ?? null;
    if (!idempotency && names.length === 0) return recipientsOf(asked, []);
    const delivery = ids && { ids, limits: this.#parts.boxLimits };
    const task = { kind: 'recall', requester, idempotency, names, delivery } as const;
    const result = await metered.submit(task, abandoned, onStage);
    if (result.kind !== 'recalled') throw unexpected(result);
    if (result.answer) return this.#replay(call, result.answer, metered.usageOf(principal));
    const toMake = recipientsOf(asked, result.recipients);
    const { refusal } = result;
    return toMake.kind === 'to_make' && refusal ? { kind: 'delivery_refused', refusal } : toMake;
  }

  /** Returns the outcome of an earlier request. Throws if its keys were withheld, and its answer is not removed yet. */
  #replay(call: Call, answer: StoredAnswer, usage: Usage): GenerateOutcome {
    const { idempotency } = call.request;
    if (!idempotency) throw new Error('a request without an Idempotency-Key was replayed');
    const replayed = replay(answer, idempotency, usage);
    this.#parts.releases.requireNotWithheld(call);
    return replayed;
  }

  /** Records keys of suite workers. They are released only when all their rows are durable. */
  async #record(
    call: Call,
    work: SuiteWork,
    recipients: readonly Recipient[],
  ): Promise<GenerateOutcome> {
    const { requester, request, onStage } = call;
    const { count, idempotency } = request;
    const made = await work.outcome;
    if (made.kind !== 'made') return made;
    if (!work.mayRelease()) throw entropyUnavailable(FAILED_MEANWHILE);
    const body = bodyOf(call, made);
    const isKept = idempotency !== null || request.delivery !== null;
    const tooLarge = isKept && body !== null && bodyTooLarge(body, count);
    if (tooLarge) return tooLarge;
    const result = await this.#parts.metered.submit(
      {
        kind: 'record',
        requester,
        rows: made.rows,
        counts: work.counts,
        idempotency: idempotency && { ...idempotency, body },
        delivery: this.#deliveryOf(call, recipients, made),
      },
      undefined,
      onStage,
    );
    if (result.kind === 'quota_exceeded' || result.kind === 'delivery_refused') return result;
    if (result.kind === 'replayed') return this.#replay(call, result.answer, result.usage);
    if (result.kind !== 'recorded') throw unexpected(result);
    return this.#releasable(call, work, made, body, result.usage);
  }

  /** Returns what the ledger keeps for the recipients; undefined without a delivery. */
  #deliveryOf(
    { request, requester }: Call,
    recipients: readonly Recipient[],
    { sealed }: AllKeys,
  ): DeliveryOrder | undefined {
    if (!request.delivery) return undefined;
    const names = namesIn(request.sealTo ?? []);
    return {
      deliveries: request.delivery.ids.map((deliveryId, i) => ({
        deliveryId,
        copies: sealed[i].sealedKeys.map((one) => JSON.stringify(one)),
      })),
      recipients: recipients.map(({ publicKey }, i) => ({ name: names[i], publicKey })),
      untilMs: deliveredUntilMs(request, requester.atMs),
      limits: this.#parts.boxLimits,
    };
  }

  /** Returns the outcome of durable rows. */
  #releasable(
    call: Call,
    work: SuiteWork,
    { keys, sealed }: AllKeys,
    body: string | null,
    usage: Usage,
  ): GenerateOutcome {
    const { atMs: createdMs } = call.requester;
    const mayRelease = () => work.mayRelease();
    work.recorded();
    if (call.request.delivery) {
      this.#parts.onDelivered(call.requester.accountId, namesIn(call.request.sealTo ?? []));
    }
    if (body === null) return { kind: 'generated', createdMs, keys, usage, mayRelease };
    for (const { suite } of sealed.flatMap(({ sealedKeys }) => sealedKeys)) {
      this.#parts.observer?.keySealed(suite);
    }
    const keyIds = sealed.map(({ keyId }) => keyId);
    const withdraw = () => this.#parts.releases.withdraw(call, keyIds);
    return {
      kind: 'sealed',
      createdMs,
      keyIds,
      body,
      usage,
      replayed: false,
      mayRelease,
      withdraw,
    };
  }

  #count({ order, count, isBatch }: KeyRequest, outcome: GenerateOutcome): void {
    const { observer } = this.#parts;
    if (outcome.kind === 'key_already_made' || (outcome.kind === 'sealed' && outcome.replayed)) {
      observer?.replayed();
    } else if (outcome.kind === 'generated' || outcome.kind === 'sealed') {
      this.#released += count;
      for (let i = 0; i < count; i++) observer?.keyGenerated(order);
      if (isBatch) observer?.batch(count);
    }
  }

  /** Runs a request and counts it if it fails, with the streams judged for it. */
  async #countingFailure(
    { requester }: Call,
    run: (noteWork: (work: SuiteWork) => void) => Promise<GenerateOutcome>,
  ): Promise<GenerateOutcome> {
    let work: SuiteWork | undefined;
    try {
      return await run((one) => {
        work = one;
      });
    } catch (error) {
      this.#noteFailure(requester, error, work?.counts ?? NO_STREAMS);
      throw error;
    }
  }

  #noteFailure({ accountId, atMs }: Requester, error: unknown, counts: StreamCounts): void {
    if (isServerError(error)) this.#parts.queue.recordFailure({ accountId, atMs, counts });
  }
}

/** A single plain key comes from the key worker, in one round trip. */
function isForKeyWorker({ order, isBatch, sealTo }: KeyRequest): boolean {
  return !order.withEvidence && !isBatch && !sealTo;
}

/** Returns the response body of sealed keys; null for keys in plaintext. */
function bodyOf({ request, requester, render }: Call, { sealed }: AllKeys): string | null {
  return request.sealTo && render ? render(sealed, requester.atMs) : null;
}

function assertRequest({ count, isBatch, sealTo }: KeyRequest, { render }: GenerateOptions): void {
  const most = isBatch ? MAX_BATCH_KEYS : 1;
  if (!Number.isInteger(count) || count < 1 || count > most) {
    throw new RangeError(`"count" expected an integer from 1 to ${most}, got ${count}`);
  }
  if (sealTo && !render) throw new TypeError('"render" expected a function, got undefined');
}

function isServerError(error: unknown): boolean {
  return !(error instanceof AppError) || ERRORS[error.code].status >= 500;
}

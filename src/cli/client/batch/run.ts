/**
 * Fills a directory with keys, a call at a time. Each call is durable in the state file before it is sent, and the IDs
 * of its keys before their files are written. So every interruption leaves one of these states:
 *
 * | State of the call      | The next run                                                                  |
 * |------------------------|-------------------------------------------------------------------------------|
 * | none                   | makes the next call                                                           |
 * | without key IDs        | repeats it with its Idempotency-Key: the answer, or the IDs of the lost keys  |
 * | with key IDs           | sealed keys: repeats it for the missing files; plain keys: counts them as lost |
 */

import { randomUUID } from 'node:crypto';
import { CommandError } from '#platform/commands';
import { wipe } from '../../../bytes.ts';
import { digestOf, type KeyContent, type KeyDirectory, type ListedKey } from './directory.ts';
import { type BatchState, isStale, type PendingCall } from './state.ts';

/** What the service answered to one call. */
export type CallOutcome =
  | { readonly kind: 'keys'; readonly keys: readonly KeyContent[] }
  /** A plain call was answered before: its keys cannot be given again. */
  | { readonly kind: 'lost'; readonly keyIds: readonly string[] }
  /**
   * The service refused the call. `maxCount` is smaller than the count of the call. `isFirst` is false if an earlier
   * request of this call may still be in progress on another server.
   */
  | { readonly kind: 'too_large'; readonly maxCount: number; readonly isFirst: boolean }
  /** No request of this call reached the service, or it refused the only one. */
  | { readonly kind: 'refused'; readonly error: unknown };

export interface BatchWork {
  /** Keys to generate. */
  readonly count: number;
  /** True if the service gives the same answer again: for sealed keys. */
  readonly isReplayable: boolean;
  /** Makes one call. Rejects if no answer came or the service refused. */
  readonly send: (call: PendingCall) => Promise<CallOutcome>;
  /** Gets the number of files after each call. */
  readonly onProgress: (made: number) => void;
  /** Gets the IDs of keys that no file will have. */
  readonly onLost: (keyIds: readonly string[]) => void;
  /** Gets the number of keys of a call whose outcome the service cannot tell any more. */
  readonly onUnknown: (count: number) => void;
  /** Ends the run between two calls. */
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** Most keys of a call. */
const CALL_KEYS = 100;

/** Calls after which a run that made smaller ones tries larger ones: the limit depends on the load of the service. */
const CALLS_TO_GROW = 8;

export class BatchRun {
  readonly #directory: KeyDirectory;
  readonly #work: BatchWork;
  #state: BatchState;
  #callKeys = CALL_KEYS;
  /** Calls since the service refused one as too large. */
  #goodCalls = 0;

  constructor(directory: KeyDirectory, state: BatchState, work: BatchWork) {
    this.#directory = directory;
    this.#state = state;
    this.#work = work;
  }

  get state(): BatchState {
    return this.#state;
  }

  /** Generates the missing keys. Rejects if it cannot, or with the reason of the signal; the state file then has the rest. */
  async finish(): Promise<void> {
    const { count, now, onProgress, signal } = this.#work;
    if (this.#state.call) await this.#resume(this.#state.call);
    while (this.#state.made < count) {
      onProgress(this.#state.made);
      signal.throwIfAborted();
      await this.#ask(this.#begin(Math.min(this.#callKeys, count - this.#state.made)), true);
    }
    this.#directory.requireAll(count);
    this.#save({ completedMs: now() });
  }

  #save(change: Partial<BatchState>): void {
    this.#state = { ...this.#state, ...change };
    this.#directory.saveState(this.#state);
  }

  #begin(count: number): PendingCall {
    const sentMs = this.#work.now();
    const call = { idempotencyKey: randomUUID(), count, sentMs, keyIds: null, digests: [] };
    this.#save({ call });
    return call;
  }

  async #resume(call: PendingCall): Promise<void> {
    const { isReplayable, now } = this.#work;
    const { keyIds, digests, count } = call;
    const isKnown = !isStale(call, now());
    if (keyIds === null && isKnown) return this.#ask(call, false);
    if (keyIds === null) return this.#forget(count);
    const isComplete = keyIds.every((keyId, i) => this.#directory.has(keyId, digests[i]));
    if (isReplayable && isKnown && !isComplete) return this.#ask(call, false);
    this.#end(call);
  }

  #forget(count: number): void {
    this.#save({ call: null, unknown: this.#state.unknown + count });
    this.#work.onUnknown(count);
  }

  async #ask(call: PendingCall, isNew: boolean): Promise<void> {
    const outcome = await this.#work.send(call);
    if (outcome.kind === 'refused') {
      // An earlier run may have sent the call with success.
      if (isNew) this.#save({ call: null });
      throw outcome.error;
    }
    if (outcome.kind === 'too_large') {
      this.#callKeys = outcome.maxCount;
      this.#goodCalls = 0;
      if (!isNew || !outcome.isFirst) return this.#forget(call.count);
      this.#save({ call: null });
      return;
    }
    this.#grow();
    if (outcome.kind === 'lost') this.#end({ ...call, keyIds: outcome.keyIds, digests: [] });
    else this.#write(call, outcome.keys);
  }

  #grow(): void {
    this.#goodCalls += 1;
    if (this.#goodCalls % CALLS_TO_GROW === 0) {
      this.#callKeys = Math.min(CALL_KEYS, 2 * this.#callKeys);
    }
  }

  #write(call: PendingCall, keys: readonly KeyContent[]): void {
    const given = {
      ...call,
      keyIds: keys.map(({ keyId }) => keyId),
      digests: keys.map(({ content }) => digestOf(content)),
    };
    try {
      this.#save({ call: given });
      this.#directory.write(keys);
    } catch (error) {
      throw this.#withLoss(error, given);
    } finally {
      wipe(...keys.map(({ content }) => content));
    }
    this.#end(given);
  }

  /** Adds what a failed write loses. The next run comes to the same result from the state file. */
  #withLoss(error: unknown, call: PendingCall): unknown {
    if (!(error instanceof CommandError) || this.#work.isReplayable) return error;
    this.#work.onLost(this.#sort(call).lost);
    return error;
  }

  /** Ends a call: each of its keys has a file or is lost. */
  #end(call: PendingCall): void {
    const { made, lostKeyIds } = this.#state;
    const { written, lost } = this.#sort(call);
    // First: a process that ends here lists them once more, which changes nothing.
    this.#directory.list(written);
    this.#save({ call: null, made: made + written.length, lostKeyIds: [...lostKeyIds, ...lost] });
    if (lost.length > 0) this.#work.onLost(lost);
  }

  /** Tells the keys of a call that have the file that the service gave from those that do not. */
  #sort({ keyIds, digests }: PendingCall): { written: ListedKey[]; lost: string[] } {
    const written: ListedKey[] = [];
    const lost: string[] = [];
    for (const [i, keyId] of (keyIds ?? []).entries()) {
      const digest = digests[i];
      if (digest !== undefined && this.#directory.has(keyId, digest))
        written.push({ keyId, digest });
      else lost.push(keyId);
    }
    return { written, lost };
  }
}

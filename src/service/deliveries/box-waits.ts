/**
 * Long polls: requests that wait until a copy waits in their box. They hold no connection to the database. While any of them
 * waits, one query a second asks about all their boxes, because another server may have delivered. A delivery of this server
 * wakes its requests at once.
 */
import type { WaitingQuery } from '../../ledger/index.ts';
import type { KeyObserver, QueueLoad } from '../observer.ts';
import { isOwnShare, overloaded } from '../requests/own-share.ts';

/** Limits of waiting requests: of all accounts, of one, and of one box. So a site cannot take the places of others. */
const MAX_WAITS = 2_048;
const MAX_WAITS_OF_ACCOUNT = 512;
const MAX_WAITS_OF_BOX = 16;

/** Pause between two queries. */
const POLL_MS = 1_000;

const RETRY_AFTER_SECONDS = 1;

/** Asks which boxes have a copy that waits. It may reject: the next query follows. */
type Poll = (boxes: readonly WaitingQuery[]) => Promise<readonly boolean[]>;

interface Waiter {
  readonly query: WaitingQuery;
  readonly wake: () => void;
}

export class BoxWaits {
  readonly #poll: Poll;
  readonly #observer: KeyObserver | undefined;
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  #ended = false;

  constructor(poll: Poll, observer?: KeyObserver) {
    this.#poll = poll;
    this.#observer = observer;
  }

  get load(): QueueLoad {
    return { name: 'long_polls', waiting: this.#waiters.size, capacity: MAX_WAITS };
  }

  /** True after `end`. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Resolves when a copy may wait in the box, after `ms`, when the signal aborts, or at once after `end`. Rejects with
   * `overloaded` if too many requests wait.
   */
  async wait(query: WaitingQuery, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#ended || signal.aborted) return;
    this.#requireRoom(query);
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter: Waiter = { query, wake: resolve };
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', waiter.wake, { once: true });
    this.#waiters.add(waiter);
    this.#plan();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', waiter.wake);
      this.#waiters.delete(waiter);
      if (this.#waiters.size === 0) this.#rest();
    }
  }

  /** Wakes the requests for boxes of these recipients, because a delivery to them is durable. */
  noteDelivered(accountId: string, recipients: readonly string[]): void {
    for (const { query, wake } of this.#waiters) {
      if (query.accountId === accountId && recipients.includes(query.recipient)) wake();
    }
  }

  /** Wakes all requests. Later ones do not wait. */
  end(): void {
    this.#ended = true;
    this.#rest();
    for (const { wake } of this.#waiters) wake();
  }

  #requireRoom({ accountId, recipient }: WaitingQuery): void {
    let own = 0;
    let ofBox = 0;
    for (const { query } of this.#waiters) {
      if (query.accountId !== accountId) continue;
      own += 1;
      if (query.recipient === recipient) ofBox += 1;
    }
    const all = this.#waiters.size;
    if (all < MAX_WAITS && own < MAX_WAITS_OF_ACCOUNT && ofBox < MAX_WAITS_OF_BOX) return;
    const ownShare = isOwnShare({
      capacity: MAX_WAITS,
      others: all - own,
      hasRoomForOthers: all < MAX_WAITS,
    });
    this.#observer?.refused('long_polls', ownShare);
    throw overloaded(ownShare, RETRY_AFTER_SECONDS);
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** A query that has no answer yet is the only one: a database that hangs gets no more. */
  #plan(): void {
    if (this.#timer !== undefined || this.#isAsking || this.#ended) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#isAsking = true;
      void this.#ask().finally(() => {
        this.#isAsking = false;
        if (this.#waiters.size > 0) this.#plan();
      });
    }, POLL_MS);
  }

  async #ask(): Promise<void> {
    const waiters = [...this.#waiters];
    try {
      const found = await this.#poll(waiters.map(({ query }) => query));
      for (const [i, { wake }] of waiters.entries()) if (found[i]) wake();
    } catch {
      // While the ledger cannot be used, requests wait on: each asks it itself at its end.
    }
  }
}

/** Deliveries as the HTTP layer sees them: list, fetch and remove copies, and the states of a delivery. Nothing here is metered. */
import type { Clock } from '../../clock.ts';
import { monotonicMs } from '../../clock.ts';
import type {
  CopyOrder,
  CopyPage,
  CopyQuery,
  DeliveryRecord,
  TakenCopy,
} from '../../ledger/index.ts';
import type { KeyObserver, QueueLoad } from '../observer.ts';
import type { Statistics } from '../reading/statistics.ts';
import type { SettledResult } from '../requests/queue.ts';
import { unexpected } from '../threads/failures.ts';
import type { KeyTask } from '../threads/messages.ts';
import { BoxWaits } from './box-waits.ts';

/** Has the key worker do a task. Rejects with the task's failure. */
type Submit = (task: KeyTask) => Promise<Exclude<SettledResult, { kind: 'failed' }>>;

interface DeliveriesParts {
  readonly statistics: Pick<Statistics, 'copies' | 'delivery' | 'haveWaiting'>;
  readonly submit: Submit;
  readonly clock: Clock;
  readonly observer: KeyObserver | undefined;
}

export class Deliveries {
  readonly #parts: DeliveriesParts;
  readonly #waits: BoxWaits;

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
    this.#waits = new BoxWaits(
      (boxes) => parts.statistics.haveWaiting({ boxes, nowMs: parts.clock.nowMs() }),
      parts.observer,
    );
  }

  get load(): QueueLoad {
    return this.#waits.load;
  }

  /**
   * Returns a page of a box. If it would be empty, waits up to `waitMs` for a copy, or until the signal aborts: the client has
   * gone.
   */
  async list(
    query: Omit<CopyQuery, 'nowMs'>,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<CopyPage> {
    const endMs = monotonicMs() + waitMs;
    for (;;) {
      const nowMs = this.#parts.clock.nowMs();
      const page = await this.#parts.statistics.copies({ ...query, nowMs });
      const leftMs = endMs - monotonicMs();
      if (page.copies.length > 0 || leftMs <= 0 || signal.aborted || this.#waits.ended) return page;
      await this.#waits.wait(query, leftMs, signal);
    }
  }

  /** Fetches or removes copies. Resolves when their states are durable. Returns null for an ID that the box never had. */
  async take(order: Omit<CopyOrder, 'nowMs'>): Promise<readonly (TakenCopy | null)[]> {
    const nowMs = this.#parts.clock.nowMs();
    const result = await this.#parts.submit({ kind: 'take_copies', order: { ...order, nowMs } });
    if (result.kind !== 'copies_taken') throw unexpected(result);
    return result.copies;
  }

  /** Returns the states of a delivery; null if the account has none of this ID. */
  find(accountId: string, deliveryId: Uint8Array): Promise<DeliveryRecord | null> {
    return this.#parts.statistics.delivery({
      ...{ accountId, deliveryId, nowMs: this.#parts.clock.nowMs() },
    });
  }

  /** Wakes the requests that wait for a copy of these recipients. */
  noteDelivered(accountId: string, recipients: readonly string[]): void {
    this.#waits.noteDelivered(accountId, recipients);
  }

  /** Ends all waiting, because the server shuts down. */
  endWaits(): void {
    this.#waits.end();
  }
}

/**
 * Asks the store whether keys can be recorded, as thoroughly as recent commits give reason to.
 *
 * A key recorded since the last question shows it better than any probe, so none is written then. After a failure the
 * probe must show what the failed batch may have lacked: room for a large batch, and the rows of its accounts.
 */
import { monotonicMs } from '../clock.ts';
import type { LedgerStore } from '../ledger/index.ts';
import { CHECK_EVERY_MS } from './ledger-health.ts';

/** How often a server without traffic shows that there is room. It costs the database 4 MiB of a file. */
const ROOM_EVERY_MS = 30_000;

/** Accounts of failed batches that are kept in mind. */
const MAX_SUSPECTS = 2_048;

export class LedgerProbe {
  readonly #store: LedgerStore;
  /** Whether a commit or a probe has failed, and no thorough probe has succeeded since. */
  #distrusts = false;
  readonly #suspects = new Set<string>();
  #failedCommits = 0;
  #recordedMs = Number.NEGATIVE_INFINITY;
  #roomMs = Number.NEGATIVE_INFINITY;

  constructor(store: LedgerStore) {
    this.#store = store;
  }

  /** A batch has recorded so many keys. */
  noteRecorded(keys: number): void {
    if (keys > 0) this.#recordedMs = monotonicMs();
  }

  /** A batch with requests of these accounts has failed. */
  noteFailed(accountIds: Iterable<string>): void {
    this.#failedCommits += 1;
    this.#distrusts = true;
    for (const accountId of accountIds) {
      if (this.#suspects.size < MAX_SUSPECTS) this.#suspects.add(accountId);
    }
  }

  /** Rejects when a key could not be recorded. */
  async run(): Promise<void> {
    const startMs = monotonicMs();
    if (!this.#distrusts && startMs - this.#recordedMs < CHECK_EVERY_MS) return;
    const room = this.#distrusts || startMs - this.#roomMs >= ROOM_EVERY_MS;
    const before = this.#failedCommits;
    try {
      await this.#store.probe({ accountIds: [...this.#suspects], room });
    } catch (error) {
      this.#distrusts = true;
      throw error;
    }
    if (room) this.#roomMs = startMs;
    if (before !== this.#failedCommits) return;
    this.#distrusts = false;
    this.#suspects.clear();
  }
}

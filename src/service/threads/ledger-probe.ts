/**
 * Asks the store whether keys can be recorded, as thoroughly as recent commits give reason to.
 *
 * A key recorded since the last question shows it better than any probe, so none is written then. Nor is one beside a
 * commit while keys are recorded: each would wait for the other. After a failure the probe must show what the failed
 * batch may have lacked: room for a large batch. It also looks whether others lock rows of the batch's accounts.
 */
import { monotonicMs } from '../../clock.ts';
import type { LedgerStore } from '../../ledger/index.ts';
import { CHECK_EVERY_MS } from '../ledger-health.ts';

/** How often a server without traffic shows that there is room. It costs the database 4 MiB of a file. */
const ROOM_EVERY_MS = 30_000;

/** How old the last recorded key may be for a commit under way to take the place of a probe. */
const TRUSTED_MS = 5_000;

/** How long an account is a suspect after its last failed commit: longer than two batches that wait for its lock. */
const SUSPECT_MS = 10_000;

/** Accounts of failed batches that are kept in mind. */
const MAX_SUSPECTS = 2_048;

export class LedgerProbe {
  readonly #store: LedgerStore;
  /** Whether a commit or a probe has failed, and no thorough probe has succeeded since. */
  #distrusts = false;
  /** Accounts whose requests failed, and when the last did. */
  readonly #suspects = new Map<string, number>();
  #underWay = 0;
  #failedCommits = 0;
  #recordedMs = Number.NEGATIVE_INFINITY;
  #roomMs = Number.NEGATIVE_INFINITY;

  constructor(store: LedgerStore) {
    this.#store = store;
  }

  /** A batch is being committed. One of the next two calls follows. */
  noteBegun(): void {
    this.#underWay += 1;
  }

  /** A batch with requests of these accounts has been committed, and has recorded so many keys. */
  noteCommitted(accountIds: Iterable<string>, keys: number): void {
    this.#underWay -= 1;
    if (keys > 0) this.#recordedMs = monotonicMs();
    if (this.#suspects.size === 0) return;
    for (const accountId of accountIds) this.#suspects.delete(accountId);
  }

  /** A batch with requests of these accounts has failed. */
  noteFailed(accountIds: Iterable<string>): void {
    this.#underWay -= 1;
    this.#failedCommits += 1;
    this.#distrusts = true;
    const nowMs = monotonicMs();
    for (const accountId of accountIds) {
      if (this.#suspects.size < MAX_SUSPECTS || this.#suspects.has(accountId)) {
        this.#suspects.set(accountId, nowMs);
      }
    }
  }

  /** Tells whether others lock a row of a suspect. Rejects when a key could not be recorded. */
  async run(): Promise<boolean> {
    const startMs = monotonicMs();
    const accountIds = this.#suspectsAt(startMs);
    if (!this.#distrusts && accountIds.length === 0 && this.#isShown(startMs)) return false;
    const room = this.#distrusts || startMs - this.#roomMs >= ROOM_EVERY_MS;
    const before = this.#failedCommits;
    let isLocked: boolean;
    try {
      isLocked = await this.#store.probe({ accountIds, room });
    } catch (error) {
      this.#distrusts = true;
      throw error;
    }
    if (room) this.#roomMs = startMs;
    if (before === this.#failedCommits) {
      this.#distrusts = false;
      if (!isLocked) this.#suspects.clear();
    }
    return isLocked;
  }

  #suspectsAt(nowMs: number): string[] {
    for (const [accountId, failedMs] of this.#suspects) {
      if (nowMs - failedMs > SUSPECT_MS) this.#suspects.delete(accountId);
    }
    return [...this.#suspects.keys()];
  }

  /** Whether commits show that keys can be recorded. One that hangs is seen without a probe. */
  #isShown(nowMs: number): boolean {
    const sinceMs = nowMs - this.#recordedMs;
    return sinceMs < CHECK_EVERY_MS || (this.#underWay > 0 && sinceMs < TRUSTED_MS);
  }
}

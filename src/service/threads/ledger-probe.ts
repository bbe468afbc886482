/**
 * Checks whether the store can record keys, as thoroughly as recent commits require.
 *
 * A key recorded since the last check is better evidence than any probe, so no probe is written then. While keys are
 * recorded, no probe is written beside a commit either, because each would wait for the other. After a failure the probe must
 * also show room for a large batch, which the failed batch may have lacked, and checks whether other sessions lock rows
 * of the batch's accounts.
 */
import { monotonicMs } from '../../clock.ts';
import type { LedgerStore } from '../../ledger/index.ts';
import { CHECK_EVERY_MS } from '../ledger/health.ts';

/** Interval at which a server without traffic checks for room. Each check costs the database 4 MiB of a file. */
const ROOM_EVERY_MS = 30_000;

/** Greatest age of the last recorded key at which a commit in progress replaces a probe. */
const TRUSTED_MS = 5_000;

/** Time for which an account stays a suspect after its last failed commit: longer than two batches wait for its lock. */
const SUSPECT_MS = 10_000;

/** Limit of remembered accounts of failed batches. */
const MAX_SUSPECTS = 2_048;

export class LedgerProbe {
  readonly #store: LedgerStore;
  /** True if a commit or a probe failed and no thorough probe has succeeded since. */
  #distrusts = false;
  /** Accounts whose requests failed, with the time of the last failure. */
  readonly #suspects = new Map<string, number>();
  #inFlight = 0;
  #failedCommits = 0;
  #recordedMs = Number.NEGATIVE_INFINITY;
  #roomMs = Number.NEGATIVE_INFINITY;

  constructor(store: LedgerStore) {
    this.#store = store;
  }

  /** Notes the start of a commit. `noteCommitted` or `noteFailed` follows. */
  noteBegun(): void {
    this.#inFlight += 1;
  }

  /** Notes a committed batch with its accounts and the number of recorded keys. */
  noteCommitted(accountIds: Iterable<string>, keys: number): void {
    this.#inFlight -= 1;
    if (keys > 0) this.#recordedMs = monotonicMs();
    if (this.#suspects.size === 0) return;
    for (const accountId of accountIds) this.#suspects.delete(accountId);
  }

  /** Notes a failed batch with its accounts. */
  noteFailed(accountIds: Iterable<string>): void {
    this.#inFlight -= 1;
    this.#failedCommits += 1;
    this.#distrusts = true;
    const nowMs = monotonicMs();
    for (const accountId of accountIds) {
      if (this.#suspects.size < MAX_SUSPECTS || this.#suspects.has(accountId)) {
        this.#suspects.set(accountId, nowMs);
      }
    }
  }

  /** Resolves with true if another session locks a row of a suspect. Rejects if a key could not be recorded. */
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

  /** Reports whether commits show that keys can be recorded. A hanging commit is noticed without a probe. */
  #isShown(nowMs: number): boolean {
    const sinceMs = nowMs - this.#recordedMs;
    return sinceMs < CHECK_EVERY_MS || (this.#inFlight > 0 && sinceMs < TRUSTED_MS);
  }
}

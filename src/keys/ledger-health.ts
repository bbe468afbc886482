/**
 * Judges whether the ledger can be used, from real commits and from checks, in ticks of `TICK_MS`.
 *
 * - It fails when a check fails, or when a check or a batch is under way for `LATE_TICKS`.
 * - A failed commit brings the next check forward, and that check decides. It probes what the commit may have lacked.
 * - It works again when a check succeeds, no commit has failed since that check began, and no batch is late. A
 *   recorded key brings the check forward.
 * - Commits may fail for a reason that checks do not see. After `MAX_CONTRADICTIONS` such checks without a recorded key
 *   between them it fails too, and it is given another try after `HOLD_TICKS`.
 *
 * Ticks are counted, not milliseconds, so that a main thread that stalled does not take the answers that wait for it
 * to be late.
 */
import type { CommitTimes } from './messages.ts';

export const TICK_MS = 250;

/** How often the ledger is asked while all is well. */
export const CHECK_EVERY_MS = 2_000;

const CHECK_TICKS = CHECK_EVERY_MS / TICK_MS;
const URGENT_CHECK_TICKS = 2;
const LATE_TICKS = 10;
const MAX_CONTRADICTIONS = 3;
const HOLD_TICKS = 30_000 / TICK_MS;

const LATE = 'the ledger does not answer';

export class LedgerHealth {
  #failure: string | null = null;
  /** Ticks since the check that is under way was asked for; null when none is. */
  #checkTicks: number | null = null;
  #sinceAsked = 0;
  #isUrgent = false;
  /** The batch that has been under way longest, and for how many ticks it has been that. */
  #batch: number | null = null;
  #batchTicks = 0;
  /** Why a commit failed since the last check began; null when none did. */
  #failedCommit: string | null = null;
  /** Why a commit failed before the check under way began, and after the one before it. */
  #doubt: string | null = null;
  #contradictions = 0;
  #holdTicks = 0;

  /** Why the ledger cannot be used; null while it can. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Call every `TICK_MS`, with the number of the oldest batch under way. True when the ledger is to be checked now. */
  tick(oldestBatch: number | null): boolean {
    this.#batchTicks =
      oldestBatch !== null && oldestBatch === this.#batch ? this.#batchTicks + 1 : 0;
    this.#batch = oldestBatch;
    if (this.#checkTicks !== null) this.#checkTicks += 1;
    if (this.#isLate) this.#failure ??= LATE;
    this.#holdTicks = Math.max(0, this.#holdTicks - 1);
    this.#sinceAsked += 1;
    const waitTicks = this.#isUrgent ? URGENT_CHECK_TICKS : CHECK_TICKS;
    if (this.#checkTicks !== null || this.#sinceAsked < waitTicks) return false;
    this.#checkTicks = 0;
    this.#sinceAsked = 0;
    this.#isUrgent = false;
    this.#doubt = this.#failedCommit;
    this.#failedCommit = null;
    return true;
  }

  /** A transaction has ended. */
  committed({ failure, keys }: CommitTimes): void {
    if (failure !== null) {
      this.#failedCommit = failure;
      this.#isUrgent = true;
      if (this.#failure !== null) this.#failure = failure;
    } else if (keys > 0) {
      this.#contradictions = 0;
      this.#holdTicks = 0;
      this.#isUrgent ||= this.#failure !== null;
    }
  }

  /** A check has ended. */
  checked(failure: string | null): void {
    this.#checkTicks = null;
    if (failure !== null) {
      this.#failure = failure;
      return;
    }
    if (this.#doubt !== null) this.#contradict(this.#doubt);
    if (this.#failedCommit === null && this.#holdTicks === 0 && !this.#isLate) {
      this.#failure = null;
    }
  }

  /** The check has succeeded after a commit that failed. */
  #contradict(failure: string): void {
    this.#contradictions += 1;
    if (this.#contradictions < MAX_CONTRADICTIONS) return;
    this.#contradictions = MAX_CONTRADICTIONS - 1;
    this.#holdTicks = HOLD_TICKS;
    this.#failure = failure;
  }

  get #isLate(): boolean {
    return this.#batchTicks >= LATE_TICKS || (this.#checkTicks ?? 0) >= LATE_TICKS;
  }
}

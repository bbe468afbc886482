/**
 * Judges whether the ledger can be used, from real commits and from checks, in ticks of `TICK_MS`.
 *
 * - It fails when a check fails or is late, or when a batch is under way for `LATE_BATCH_TICKS`.
 * - It fails when commits fail for `RUN_TICKS` with no recorded key between them, if a second one fails or is under way.
 * - A failed commit brings the next check forward, and that check decides. It probes what the commit may have lacked.
 * - It works again when a check succeeds, no commit has failed since that check began, nothing is late, and no row is
 *   locked of an account whose requests failed. That lock alone is no failure: while other keys are recorded, they
 *   count. A recorded key brings the check forward.
 * - Commits may fail for a reason that checks do not see. After `MAX_CONTRADICTIONS` such checks without a recorded key
 *   between them it fails too, and it is given another try after `HOLD_TICKS`.
 *
 * A commit may take four seconds and succeed, and a check and batches wait for each other in the order in which they were
 * sent. So a batch is late only when it takes longer, and each is late only by what it takes itself. After a late check
 * the next must end in time. After a late batch one must end in time, or none
 * be under way for `CALM_TICKS`: commits that are always late do not have readiness follow each of them.
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
const LATE_CHECK_TICKS = 10;
const LATE_BATCH_TICKS = 17;
/** From the beginning of the first commit that failed. A tick longer than a batch: the one behind it may record keys. */
const RUN_TICKS = 18;
const CALM_TICKS = 8;
const MAX_CONTRADICTIONS = 3;
const HOLD_TICKS = 30_000 / TICK_MS;

const LATE = 'the ledger does not answer';

/** Commits that failed with no recorded key between them. */
interface FailedRun {
  readonly failure: string;
  readonly commits: number;
  /** Since the first of them began. */
  readonly ticks: number;
}

export class LedgerHealth {
  #failure: string | null = null;
  /** Ticks that the check under way takes, the time for batches before it left out; null when none is. */
  #checkTicks: number | null = null;
  /** The first batch that the check under way does not wait for. */
  #batchBehind = 0;
  #sinceAsked = 0;
  #isUrgent = false;
  /** The batch that has been under way longest, and for how many ticks it has been that. */
  #batch: number | null = null;
  #batchTicks = 0;
  /** Ticks without a batch that are still asked for after a late one. */
  #calmTicks = 0;
  #run: FailedRun | null = null;
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

  /** Call every `TICK_MS`, with the numbers of the batches under way, oldest first. True when the ledger is to be checked now. */
  tick(batches: readonly number[]): boolean {
    this.#count(batches[0] ?? null);
    if (this.#isLate) this.#failure ??= LATE;
    if (this.#run && this.#isStalled) this.#failure ??= this.#run.failure;
    this.#sinceAsked += 1;
    const waitTicks = this.#isUrgent ? URGENT_CHECK_TICKS : CHECK_TICKS;
    if (this.#checkTicks !== null || this.#sinceAsked < waitTicks) return false;
    this.#checkTicks = 0;
    this.#batchBehind = (batches.at(-1) ?? -1) + 1;
    this.#sinceAsked = 0;
    this.#isUrgent = false;
    this.#doubt = this.#failedCommit;
    this.#failedCommit = null;
    return true;
  }

  #count(oldestBatch: number | null): void {
    const isSame = oldestBatch !== null && oldestBatch === this.#batch;
    this.#batch = oldestBatch;
    const checkWaits = oldestBatch !== null && oldestBatch < this.#batchBehind;
    const checkRuns = this.#checkTicks !== null && !checkWaits;
    if (checkRuns) this.#checkTicks = (this.#checkTicks ?? 0) + 1;
    if (!isSame) this.#batchTicks = 0;
    else if (!checkRuns) this.#batchTicks += 1;
    if (this.#batchTicks >= LATE_BATCH_TICKS) this.#calmTicks = CALM_TICKS;
    else if (oldestBatch === null) this.#calmTicks = Math.max(0, this.#calmTicks - 1);
    if (this.#run) this.#run = { ...this.#run, ticks: this.#run.ticks + 1 };
    this.#holdTicks = Math.max(0, this.#holdTicks - 1);
  }

  /** A transaction has ended. */
  committed({ startMs, endMs, failure, keys }: CommitTimes): void {
    const ticks = Math.floor((endMs - startMs) / TICK_MS);
    if (failure !== null) {
      this.#failedCommit = failure;
      this.#isUrgent = true;
      const { commits, ticks: before } = this.#run ?? { commits: 0, ticks };
      this.#run = { failure, commits: commits + 1, ticks: before };
      if (this.#failure !== null) this.#failure = failure;
      return;
    }
    if (ticks < LATE_BATCH_TICKS) this.#calmTicks = 0;
    if (keys === 0) return;
    this.#run = null;
    this.#contradictions = 0;
    this.#holdTicks = 0;
    this.#isUrgent ||= this.#failure !== null;
  }

  /** A check has ended. `accountLocked`: others lock a row of an account whose requests failed. */
  checked(failure: string | null, accountLocked = false): void {
    const wasLate = (this.#checkTicks ?? 0) >= LATE_CHECK_TICKS;
    this.#checkTicks = null;
    if (wasLate) this.#isUrgent = true;
    if (failure !== null) {
      this.#failure = failure;
      return;
    }
    if (accountLocked || wasLate) return;
    if (this.#doubt !== null) this.#contradict(this.#doubt);
    if (this.#failedCommit !== null || this.#holdTicks > 0) return;
    this.#run = null;
    if (this.#calmTicks === 0 && !this.#isLate) this.#failure = null;
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
    return this.#batchTicks >= LATE_BATCH_TICKS || (this.#checkTicks ?? 0) >= LATE_CHECK_TICKS;
  }

  /** Whether commits have failed for too long: more than the one that may have hit a single account. */
  get #isStalled(): boolean {
    if (!this.#run || this.#run.ticks < RUN_TICKS) return false;
    return this.#run.commits > 1 || this.#batch !== null;
  }
}

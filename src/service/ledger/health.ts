/**
 * Decides whether the ledger is usable, from real commits and from checks, in ticks of `TICK_MS`.
 *
 * The ledger counts as failed when
 * - a check fails or is late, or a batch is in progress for `LATE_BATCH_TICKS`;
 * - commits fail for `RUN_TICKS` with no recorded key between them, and a second one has failed or is in progress;
 * - commits fail for a reason that checks do not see: after `MAX_CONTRADICTIONS` successful checks without a recorded
 *   key between them. It gets another try after `HOLD_TICKS`.
 *
 * It works again when a check succeeds, no commit has failed since that check began, nothing is late, and no row is
 * locked of an account whose requests failed. Such a lock alone is no failure while other keys are recorded.
 *
 * A failed commit brings the next check forward, and that check decides: it probes what the commit may have lacked. A
 * recorded key brings the check forward too.
 *
 * A commit may take four seconds and succeed. Checks and batches run in the order in which they were sent. A batch is
 * therefore late only if its own work takes longer; the time that it waits for others does not count. After a late check,
 * the next check must end in time. After a late batch, either another batch must end in time, or no batch may be in
 * progress for `CALM_TICKS`. Otherwise readiness would flap when all commits are late.
 *
 * It counts ticks and not milliseconds, so answers that wait for a stalled main thread do not look late.
 */
import type { CommitTimes } from '../threads/messages.ts';

export const TICK_MS = 250;

/** Interval of checks while the ledger works. */
export const CHECK_EVERY_MS = 2_000;

const CHECK_TICKS = CHECK_EVERY_MS / TICK_MS;
const URGENT_CHECK_TICKS = 2;
const LATE_CHECK_TICKS = 10;
const LATE_BATCH_TICKS = 17;
/** Counted from the start of the first failed commit. One tick longer than a batch, because the next batch may record keys. */
const RUN_TICKS = 18;
const CALM_TICKS = 8;
const MAX_CONTRADICTIONS = 3;
const HOLD_TICKS = 30_000 / TICK_MS;

const LATE = 'the ledger does not answer';

/** Failed commits with no recorded key between them. */
interface FailedRun {
  readonly failure: string;
  readonly commits: number;
  /** Ticks since the first of them began. */
  readonly ticks: number;
}

export class LedgerHealth {
  #failure: string | null = null;
  /** Ticks of the check in progress, without the time for batches before it; null if there is none. */
  #checkTicks: number | null = null;
  /** The first batch for which the check in progress does not wait. */
  #batchBehind = 0;
  #sinceAsked = 0;
  #isUrgent = false;
  /** The oldest batch in progress; `#batchTicks` counts the ticks since it became the oldest. */
  #batch: number | null = null;
  #batchTicks = 0;
  /** Ticks without a batch that are still required after a late one. */
  #calmTicks = 0;
  #run: FailedRun | null = null;
  /** Failure of a commit since the last check began, or null. */
  #failedCommit: string | null = null;
  /** Failure of a commit between the start of the previous check and the start of this one, or null. */
  #doubt: string | null = null;
  #contradictions = 0;
  #holdTicks = 0;

  /** Reason why the ledger is unusable; null while it works. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Call it every `TICK_MS` with the numbers of the batches in progress, oldest first. Returns true if a check is due. */
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

  /** Notes the end of a transaction. */
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

  /** Notes the end of a check. `accountLocked`: another session locks a row of an account whose requests failed. */
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

  /** Notes that the check succeeded although a commit had failed. */
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

  /** True if commits have failed for too long, and not only one that may concern a single account. */
  get #isStalled(): boolean {
    if (!this.#run || this.#run.ticks < RUN_TICKS) return false;
    return this.#run.commits > 1 || this.#batch !== null;
  }
}

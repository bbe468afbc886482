/**
 * Which waiting work comes next. Single keys and parts of batches share the time, so that neither waits long for the other.
 * Accounts take turns with their oldest batch, so that a large batch does not delay a small one of another account. If a
 * batch would then be late, the oldest batch comes first.
 */
import { monotonicMs } from '../../clock.ts';
import { BATCH_LIMIT_MS } from './limit.ts';
import type { SuitePace } from './pace.ts';
import { JOB_MS, SuiteRoom } from './room.ts';
import type { KeyWork, SuiteWork } from './work.ts';

/** Single keys can take as much of the workers' time as batches. */
const SINGLES_FACTOR = 2;

/**
 * Work in one message with sealed keys of several requests. With half of it, messages and commits take a sixth of the rate of 32
 * clients (docs/performance.md).
 */
const SHARED_MS = 2 * JOB_MS;

/**
 * Most time that single keys or batches can be ahead, because the pace is an estimate. The longest message fits into it: what is
 * cut off is lost to the others.
 */
const MAX_AHEAD_MS = SHARED_MS;

/** Time before the limit of a batch at which its last job should end. */
const SPARE_MS = 1_000;

export class SuiteTurns {
  readonly #singles: SuiteWork[] = [];
  readonly #batches: SuiteWork[] = [];
  /** Room for more work. */
  readonly room: SuiteRoom;
  /** Last turn of each account with waiting batches. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  /** Time that single keys have had more than batches, while both waited, in ms. */
  #singlesAheadMs = 0;
  readonly #pace: SuitePace;

  constructor(pace: SuitePace) {
    this.#pace = pace;
    this.room = new SuiteRoom(this.#singles, this.#batches, pace);
  }

  /** All waiting work. */
  get waiting(): SuiteWork[] {
    return [...this.#singles, ...this.#batches];
  }

  add(work: SuiteWork): void {
    (work.request.isBatch ? this.#batches : this.#singles).push(work);
  }

  remove(work: SuiteWork): void {
    for (const lane of [this.#singles, this.#batches]) {
      const place = lane.indexOf(work);
      if (place !== -1) lane.splice(place, 1);
    }
    if (this.#batches.length === 0) this.#turns.clear();
  }

  /** Gives the waiting work of disconnected clients that the next work could be. The caller MUST remove each. */
  *abandoned(): Generator<SuiteWork> {
    for (const work of [...this.#batches]) if (work.abandoned()) yield work;
    while (this.#singles[0]?.abandoned()) yield this.#singles[0];
  }

  /**
   * Returns the next work for one of `workers` workers, which stays until `remove`: sealed keys of several requests, or one
   * work.
   */
  next(workers: number): SuiteWork[] {
    const bothWait = this.#singles.length > 0 && this.#batches.length > 0;
    if (!bothWait) this.#singlesAheadMs = 0;
    const isBatch = this.#singles.length === 0 || (bothWait && this.#singlesAheadMs > 0);
    const next = isBatch ? this.#nextBatch(workers) : this.#nextSingles(workers);
    if (bothWait) this.#noteSent(isBatch ? -this.#messageMs(next) : this.#messageMs(next));
    return next;
  }

  #noteSent(singlesMs: number): void {
    const aheadMs = this.#singlesAheadMs + singlesMs;
    this.#singlesAheadMs = Math.min(MAX_AHEAD_MS, Math.max(-MAX_AHEAD_MS, aheadMs));
  }

  /** Returns the expected time of a message with the next keys of these works. */
  #messageMs(works: readonly SuiteWork[]): number {
    return works.reduce((sum, { request, unsentKeys }) => {
      return sum + Math.min(unsentKeys, this.keysOfJob(request)) * this.#pace.msPerKey(request);
    }, 0);
  }

  /** Returns how many such keys a job may have. */
  keysOfJob(request: KeyWork): number {
    return Math.max(1, Math.floor(JOB_MS / this.#pace.msPerKey(request)));
  }

  /**
   * Returns the oldest single key. If it is sealed, those behind it follow that take no longer together than `SHARED_MS`:
   * they share messages and a commit, which cost as much as the keys. Each other worker is left its part.
   */
  #nextSingles(workers: number): SuiteWork[] {
    const most = Math.ceil(this.#singles.length / workers);
    const next: SuiteWork[] = [];
    let ms = 0;
    for (const work of this.#singles) {
      ms += this.room.waitingMs([work]);
      const fits = isQuick(work) && next.length < most && ms <= SHARED_MS && !work.abandoned();
      if (next.length > 0 && !fits) break;
      next.push(work);
      if (!fits) break;
    }
    return next;
  }

  /** Returns the oldest batch of the account whose turn it is, or the oldest of all if time is short. */
  #nextBatch(workers: number): SuiteWork[] {
    const oldest = new Map<string, SuiteWork>();
    for (const work of this.#batches) {
      const { accountId } = work.request.requester;
      if (!oldest.has(accountId)) oldest.set(accountId, work);
    }
    const [first] = oldest.values();
    if (!first) return [];
    if (oldest.size < 2 || this.#isTimeShort(workers)) return [first];
    const turn = [...oldest].reduce((one, other) =>
      (this.#turns.get(other[0]) ?? 0) < (this.#turns.get(one[0]) ?? 0) ? other : one,
    );
    this.#turns.set(turn[0], ++this.#turn);
    return [turn[1]];
  }

  /** Reports whether a batch would be late unless batches are done in order of arrival, beside single keys. */
  #isTimeShort(workers: number): boolean {
    const nowMs = monotonicMs();
    let beforeMs = 0;
    return this.#batches.some((work) => {
      beforeMs += this.room.waitingMs([work]);
      const neededMs = (SINGLES_FACTOR * beforeMs) / workers;
      return nowMs + neededMs >= work.sinceMs + BATCH_LIMIT_MS - SPARE_MS;
    });
  }
}

/** True for a sealed key without validation. A validated key fills a job by itself. */
function isQuick({ request: { order, recipients } }: SuiteWork): boolean {
  return !order.withEvidence && recipients.length > 0;
}

/**
 * Which waiting work comes next. Single keys and parts of batches alternate, so that neither waits long for the other.
 * Accounts take turns with their oldest batch, so that a large batch does not delay a small one of another account. If a
 * batch would then be late, the oldest batch comes first.
 */
import { monotonicMs } from '../../clock.ts';
import { BATCH_LIMIT_MS } from './limit.ts';
import type { SuitePace } from './pace.ts';
import { JOB_MS, SuiteRoom } from './room.ts';
import type { SuiteWork } from './work.ts';

/** Single keys can take as much of the workers' time as batches. */
const SINGLES_FACTOR = 2;

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
  /** True if the next job comes from a batch, if one waits. */
  #isBatchNext = false;

  constructor(pace: SuitePace) {
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
    const isBatch = this.#singles.length === 0 || (this.#isBatchNext && this.#batches.length > 0);
    const next = isBatch ? this.#nextBatch(workers) : this.#nextSingles(workers);
    if (next.length > 0) this.#isBatchNext = !isBatch;
    return next;
  }

  /**
   * Returns the oldest single key. If it is sealed, those behind it follow that take no longer together than a job of a batch:
   * they share messages and a commit, which cost as much as the keys. Each other worker is left its part.
   */
  #nextSingles(workers: number): SuiteWork[] {
    const most = Math.ceil(this.#singles.length / workers);
    const next: SuiteWork[] = [];
    let ms = 0;
    for (const work of this.#singles) {
      ms += this.room.waitingMs([work]);
      const fits = isQuick(work) && next.length < most && ms <= JOB_MS && !work.abandoned();
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

/** A validated key fills a job by itself, and a key in plaintext waits for no other key in a worker. */
function isQuick({ request: { order, recipients } }: SuiteWork): boolean {
  return !order.withEvidence && recipients.length > 0;
}

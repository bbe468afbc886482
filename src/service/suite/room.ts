/**
 * Room in the queue of the suite workers. Single keys take places; batches take time, because a key of a batch can be fast
 * or slow. `workers` is the number of workers that can release keys.
 */
import { isOwnShare } from '../requests/own-share.ts';
import { SUITE_LIMIT_MS } from './limit.ts';
import type { SuitePace } from './pace.ts';
import type { KeyWork, SuiteWork } from './work.ts';

/** Places of waiting single keys for each worker: about two seconds of work. */
const MAX_WAITING_PER_WORKER = 256;

/**
 * Sealed keys without validation in one place. They take less than a tenth of the time of a validated key, but if validated keys
 * stand between them, each may wait for a job of a batch: all places still take six seconds at most.
 */
const SEALED_PER_PLACE = 4;

/** Work for each worker that waiting batches may hold. Less than the limit, because the pace is an estimate. */
const MAX_BATCH_MS_PER_WORKER = 0.9 * SUITE_LIMIT_MS;

/** Share of either that one account may fill before its next request, so that it cannot shut out others. */
const MAX_ACCOUNT_SHARE = 1 / 2;

/** Work in one job of a batch: about as much as one validated key, because single keys wait for it. */
export const JOB_MS = 5;

/** Used places or jobs, and their limit. */
interface SuiteLoad {
  readonly waiting: number;
  readonly capacity: number;
}

export class SuiteRoom {
  readonly #singles: readonly SuiteWork[];
  readonly #batches: readonly SuiteWork[];
  readonly #pace: SuitePace;

  /** Reads the queues as they are at each call. */
  constructor(singles: readonly SuiteWork[], batches: readonly SuiteWork[], pace: SuitePace) {
    this.#singles = singles;
    this.#batches = batches;
    this.#pace = pace;
  }

  /** Returns the places of waiting single keys, and their number. */
  load(workers: number): SuiteLoad {
    const waiting = Math.ceil(placesOf(this.#singles));
    return { waiting, capacity: workers * MAX_WAITING_PER_WORKER };
  }

  /** Returns the waiting work of batches and its limit, in jobs. */
  batchLoad(workers: number): SuiteLoad {
    return {
      waiting: Math.ceil(this.waitingMs(this.#batches) / JOB_MS),
      capacity: capacityMs(workers) / JOB_MS,
    };
  }

  /** Reports whether a request may wait. */
  has(request: KeyWork, workers: number): boolean {
    return request.isBatch ? this.#hasTime(request, workers) : this.#hasPlace(request, workers);
  }

  /** Reports whether the refusal of a request is its account's own doing. */
  isOwnShare(request: KeyWork, workers: number): boolean {
    const ofOthers = (one: SuiteWork) => !isOf(one, request);
    if (!request.isBatch) {
      const { capacity } = this.load(workers);
      return isOwnShare({
        capacity,
        others: placesOf(this.#singles.filter(ofOthers)),
        hasRoomForOthers: placesOf(this.#singles) < capacity,
      });
    }
    return isOwnShare({
      capacity: capacityMs(workers),
      others: this.waitingMs([...this.#singles, ...this.#batches].filter(ofOthers)),
      hasRoomForOthers: this.#workMs(request) <= this.#freeMs(workers),
    });
  }

  /** Returns the largest number of such keys for which there is time. */
  maxCount(request: KeyWork, workers: number): number {
    return Math.floor(this.#freeMs(workers) / this.#pace.msPerKey(request));
  }

  /** Returns the work that is not yet in a worker, in milliseconds of one worker. */
  waitingMs(works: readonly SuiteWork[]): number {
    return works.reduce(
      (sum, { request, unsentKeys }) => sum + unsentKeys * this.#pace.msPerKey(request),
      0,
    );
  }

  #hasPlace(request: KeyWork, workers: number): boolean {
    const { capacity } = this.load(workers);
    const own = placesOf(this.#singles.filter((one) => isOf(one, request)));
    return placesOf(this.#singles) < capacity && own < capacity * MAX_ACCOUNT_SHARE;
  }

  #hasTime(request: KeyWork, workers: number): boolean {
    const ownMs = this.waitingMs(this.#batches.filter((one) => isOf(one, request)));
    if (ownMs >= capacityMs(workers) * MAX_ACCOUNT_SHARE) return false;
    return this.#workMs(request) <= this.#freeMs(workers);
  }

  #workMs(request: KeyWork): number {
    return request.count * this.#pace.msPerKey(request);
  }

  /** Time that all workers have for further batches, in milliseconds of work. */
  #freeMs(workers: number): number {
    return capacityMs(workers) - this.waitingMs([...this.#singles, ...this.#batches]);
  }
}

function capacityMs(workers: number): number {
  return workers * MAX_BATCH_MS_PER_WORKER;
}

function isOf({ request }: SuiteWork, { requester }: KeyWork): boolean {
  return request.requester.accountId === requester.accountId;
}

function placesOf(works: readonly SuiteWork[]): number {
  return works.reduce(
    (sum, { request: { order, recipients } }) =>
      sum + (order.withEvidence ? 1 : Math.max(1, recipients.length) / SEALED_PER_PLACE),
    0,
  );
}

/** The main thread's side of the statistics worker: a bounded number of questions under way. */
import type { Worker } from 'node:worker_threads';
import { AppError } from '../errors.ts';
import type { PeriodSums, SeriesQuery } from '../ledger/index.ts';
import {
  type StatisticsMessage,
  type StatisticsReply,
  type StatisticsResult,
  type StatisticsTask,
  toError,
  unexpected,
} from './messages.ts';
import type { KeyObserver } from './observer.ts';
import type { RandomnessQuery } from './randomness.ts';

/** Questions under way, of all accounts and of one: the longest takes some tens of milliseconds. */
const MAX_UNDER_WAY = 64;
const MAX_OF_ACCOUNT = 8;

const RETRY_AFTER_SECONDS = 1;

interface Asked {
  readonly accountId: string;
  readonly resolve: (result: StatisticsResult) => void;
}

export class Statistics {
  readonly #worker: Worker;
  readonly #observer: KeyObserver | undefined;
  readonly #underWay = new Map<number, Asked>();
  #nextId = 1;

  /** The worker has reported ready. */
  constructor(worker: Worker, observer?: KeyObserver) {
    this.#worker = worker;
    this.#observer = observer;
    worker.on('message', ({ id, result }: StatisticsReply) => {
      this.#underWay.get(id)?.resolve(result);
      this.#underWay.delete(id);
    });
  }

  /** Questions under way, and how many may be. */
  get load(): { waiting: number; capacity: number } {
    return { waiting: this.#underWay.size, capacity: MAX_UNDER_WAY };
  }

  /**
   * Sums of an account over time, one a step. Like `randomness` it rejects with `overloaded` when too
   * much is asked at once, and with `ledger_unavailable`.
   */
  async series(query: SeriesQuery): Promise<readonly PeriodSums[]> {
    const result = await this.#ask({ kind: 'series', query });
    if (result.kind !== 'series') throw unexpected(result);
    return result.sums;
  }

  /** What the evidence of an account's last keys says, as the JSON of a member of the answer. */
  async randomness(query: RandomnessQuery): Promise<Uint8Array> {
    const result = await this.#ask({ kind: 'randomness', query });
    if (result.kind !== 'randomness') throw unexpected(result);
    return result.json;
  }

  async #ask(task: StatisticsTask): Promise<Exclude<StatisticsResult, { kind: 'failed' }>> {
    const result = await this.#post(task);
    if (result.kind === 'failed') throw toError(result.failure);
    return result;
  }

  async #post(task: StatisticsTask): Promise<StatisticsResult> {
    const { accountId } = task.query;
    const own = [...this.#underWay.values()].filter((one) => one.accountId === accountId).length;
    if (this.#underWay.size >= MAX_UNDER_WAY || own >= MAX_OF_ACCOUNT) {
      this.#observer?.refused('statistics');
      throw new AppError('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#underWay.set(id, { accountId, resolve });
      this.#worker.postMessage({ id, task } satisfies StatisticsMessage);
    });
  }
}

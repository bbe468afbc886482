/** Queries to the statistics worker, with a limit on those in progress. */

import type { AppError } from '../../errors.ts';
import {
  type AccountActivity,
  type CopyPage,
  type CopyQuery,
  type DeliveryRecord,
  type KeyPage,
  type KeyRecord,
  type PeriodSums,
  type SeriesQuery,
  type StoreLocation,
  sqliteBytes,
} from '../../ledger/index.ts';
import type { KeyObserver, QueueLoad, QueueName } from '../observer.ts';
import { isOwnShare, overloaded } from '../requests/own-share.ts';
import { damagedLedger, toError, unexpected } from '../threads/failures.ts';
import type {
  ActivityQuery,
  BoxesQuery,
  DeliveryRecordQuery,
  KeyRecordQuery,
  StatisticsResult,
  StatisticsTask,
} from '../threads/statistics-messages.ts';
import type { KeyListQuery } from './key-list.ts';
import type { Randomness, RandomnessQuery } from './randomness.ts';
import type { StatisticsThread } from './statistics-thread.ts';

/** Limits of queries in progress that take some tens of milliseconds each: of all accounts, and of one. */
const MAX_LONG = 64;
const MAX_LONG_OF_ACCOUNT = 8;

/** Limit of queries in progress that take at most a millisecond. The rate limit bounds those of one API key. */
const MAX_SHORT = 8_192;

const RETRY_AFTER_SECONDS = 1;

/** A query about an account. */
type AccountTask = Extract<StatisticsTask, { readonly query: object }>;

/** The part of the thread that queries need. */
type QueryThread = Pick<StatisticsThread, 'ask' | 'end'>;

export class Statistics {
  readonly #thread: QueryThread;
  readonly #store: StoreLocation;
  readonly #observer: KeyObserver | undefined;
  readonly #short = new Places('activity', MAX_SHORT, MAX_SHORT);
  readonly #long = new Places('statistics', MAX_LONG, MAX_LONG_OF_ACCOUNT);
  /** Set permanently when a check has found the ledger damaged. */
  #damage: AppError | null = null;

  constructor(thread: QueryThread, store: StoreLocation, observer?: KeyObserver) {
    this.#thread = thread;
    this.#store = store;
    this.#observer = observer;
  }

  /** Queries in progress and their limits, by queue. */
  get loads(): readonly QueueLoad[] {
    return [this.#short.load, this.#long.load];
  }

  /** Refuses all further queries, because the ledger is damaged. */
  condemn(damage: string): void {
    this.#damage = damagedLedger(damage);
  }

  /**
   * Returns sums of an account since a time. Like the other queries it rejects with `overloaded` if too many are in
   * progress, and with `ledger_unavailable`.
   */
  async activity(query: ActivityQuery): Promise<AccountActivity> {
    const result = await this.#ask({ kind: 'activity', query }, this.#short);
    if (result.kind !== 'activity') throw unexpected(result);
    return result.activity;
  }

  /** Returns sums of an account over time, one for each step. */
  async series(query: SeriesQuery): Promise<readonly PeriodSums[]> {
    const result = await this.#ask({ kind: 'series', query }, this.#long);
    if (result.kind !== 'series') throw unexpected(result);
    return result.sums;
  }

  /** Judges the evidence of an account's latest keys. */
  async randomness(query: RandomnessQuery): Promise<Randomness> {
    const result = await this.#ask({ kind: 'randomness', query }, this.#long);
    if (result.kind !== 'randomness') throw unexpected(result);
    return result.randomness;
  }

  /** Returns a page of an account's keys. */
  async keys(query: KeyListQuery): Promise<KeyPage> {
    const result = await this.#ask({ kind: 'keys', query }, this.#long);
    if (result.kind !== 'keys') throw unexpected(result);
    return result.page;
  }

  /** Returns the record of one key; null if the account has none of this ID. */
  async key(query: KeyRecordQuery): Promise<KeyRecord | null> {
    const result = await this.#ask({ kind: 'key', query }, this.#short);
    if (result.kind !== 'key') throw unexpected(result);
    return result.record;
  }

  /** Returns a page of a box. */
  async copies(query: CopyQuery): Promise<CopyPage> {
    const result = await this.#ask({ kind: 'copies', query }, this.#short);
    if (result.kind !== 'copies') throw unexpected(result);
    return result.page;
  }

  /** Returns one delivery; null if the account has none of this ID. */
  async delivery(query: DeliveryRecordQuery): Promise<DeliveryRecord | null> {
    const result = await this.#ask({ kind: 'delivery', query }, this.#short);
    if (result.kind !== 'delivery') throw unexpected(result);
    return result.record;
  }

  /** Returns for each box whether a copy waits in it. It takes no place: the caller MUST ask for one answer at a time. */
  async haveWaiting(asked: BoxesQuery): Promise<readonly boolean[]> {
    if (this.#damage) throw this.#damage;
    const result = await this.#thread.ask({ kind: 'boxes', asked });
    if (result.kind === 'failed') throw toError(result.failure);
    if (result.kind !== 'boxes') throw unexpected(result);
    return result.found;
  }

  /** Returns the size of the database in bytes. It takes no place: the caller MUST ask for one at a time. */
  async databaseBytes(): Promise<number> {
    // Metrics ask for it each minute, which would keep the thread running.
    if (this.#store.kind === 'sqlite') return sqliteBytes(this.#store.path);
    const result = await this.#thread.ask({ kind: 'size' });
    if (result.kind === 'failed') throw toError(result.failure);
    if (result.kind !== 'size') throw unexpected(result);
    return result.bytes;
  }

  /** Ends the thread after the queries in progress, at the latest after `limitMs`. */
  end(limitMs: number): Promise<void> {
    return this.#thread.end(limitMs);
  }

  async #ask(
    task: AccountTask,
    places: Places,
  ): Promise<Exclude<StatisticsResult, { kind: 'failed' }>> {
    if (this.#damage) throw this.#damage;
    const { accountId } = task.query;
    if (!places.take(accountId)) {
      const ownShare = places.isOwnShare(accountId);
      this.#observer?.refused(places.queue, ownShare);
      throw overloaded(ownShare, RETRY_AFTER_SECONDS);
    }
    // A query that is late keeps its place until the worker answers.
    const result = await this.#thread.ask(task, () => places.free(accountId));
    if (result.kind === 'failed') throw toError(result.failure);
    return result;
  }
}

/** Places for queries in progress, with a limit for each account. */
class Places {
  readonly queue: QueueName;
  readonly #capacity: number;
  readonly #capacityOfAccount: number;
  readonly #takenByAccount = new Map<string, number>();
  #taken = 0;

  constructor(queue: QueueName, capacity: number, capacityOfAccount: number) {
    this.queue = queue;
    this.#capacity = capacity;
    this.#capacityOfAccount = capacityOfAccount;
  }

  get load(): QueueLoad {
    return { name: this.queue, waiting: this.#taken, capacity: this.#capacity };
  }

  /** Takes a place for the account. Returns false if none is available to it. */
  take(accountId: string): boolean {
    const own = this.#takenByAccount.get(accountId) ?? 0;
    if (this.#taken >= this.#capacity || own >= this.#capacityOfAccount) return false;
    this.#takenByAccount.set(accountId, own + 1);
    this.#taken += 1;
    return true;
  }

  /** Returns true if the refusal of a place is the account's own doing. */
  isOwnShare(accountId: string): boolean {
    const own = this.#takenByAccount.get(accountId) ?? 0;
    return isOwnShare({
      capacity: this.#capacity,
      others: this.#taken - own,
      hasRoomForOthers: this.#taken < this.#capacity,
    });
  }

  free(accountId: string): void {
    const left = (this.#takenByAccount.get(accountId) ?? 0) - 1;
    if (left > 0) this.#takenByAccount.set(accountId, left);
    else this.#takenByAccount.delete(accountId);
    this.#taken -= 1;
  }
}

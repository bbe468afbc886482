/** Messages to the statistics worker and from it. */
import type {
  AccountActivity,
  CopyPage,
  CopyQuery,
  DeliveryRecord,
  KeyPage,
  KeyRecord,
  PeriodSums,
  SeriesQuery,
  WaitingQuery,
} from '../../ledger/index.ts';
import type { KeyListQuery } from '../reading/key-list.ts';
import type { Randomness, RandomnessQuery } from '../reading/randomness.ts';
import type { Failure } from './failures.ts';
import type { WorkerUnable } from './messages.ts';

/** Query for the sums of an account. `sinceMs` is rounded down to a whole minute. */
export interface ActivityQuery {
  readonly accountId: string;
  readonly sinceMs: number;
}

/** Asks for one key of an account. */
export interface KeyRecordQuery {
  readonly accountId: string;
  readonly keyId: Uint8Array;
}

/** Asks for one delivery of an account. */
export interface DeliveryRecordQuery {
  readonly accountId: string;
  readonly deliveryId: Uint8Array;
  readonly nowMs: number;
}

/** Asks in which boxes a copy waits. */
export interface BoxesQuery {
  readonly boxes: readonly WaitingQuery[];
  readonly nowMs: number;
}

/** One query to the statistics worker: about an account, about the boxes of several, or the size of the database. */
export type StatisticsTask =
  | { readonly kind: 'activity'; readonly query: ActivityQuery }
  | { readonly kind: 'series'; readonly query: SeriesQuery }
  | { readonly kind: 'randomness'; readonly query: RandomnessQuery }
  | { readonly kind: 'keys'; readonly query: KeyListQuery }
  | { readonly kind: 'key'; readonly query: KeyRecordQuery }
  | { readonly kind: 'copies'; readonly query: CopyQuery }
  | { readonly kind: 'delivery'; readonly query: DeliveryRecordQuery }
  | { readonly kind: 'boxes'; readonly asked: BoxesQuery }
  | { readonly kind: 'size' };

export type StatisticsResult =
  | { readonly kind: 'activity'; readonly activity: AccountActivity }
  | { readonly kind: 'series'; readonly sums: readonly PeriodSums[] }
  | { readonly kind: 'randomness'; readonly randomness: Randomness }
  | { readonly kind: 'keys'; readonly page: KeyPage }
  | { readonly kind: 'key'; readonly record: KeyRecord | null }
  | { readonly kind: 'copies'; readonly page: CopyPage }
  | { readonly kind: 'delivery'; readonly record: DeliveryRecord | null }
  | { readonly kind: 'boxes'; readonly found: readonly boolean[] }
  | { readonly kind: 'size'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly failure: Failure };

export type StatisticsMessage = { readonly id: number; readonly task: StatisticsTask } | 'close';

export interface StatisticsReply {
  readonly id: number;
  readonly result: StatisticsResult;
}

/** What the worker sends: answers, or why it cannot start. */
export type StatisticsOutput = StatisticsReply | WorkerUnable;

/** Messages between the main thread and the log worker. */

import type { JsonObject } from '#tlog';
import type { AuditAction } from '../../ledger/index.ts';
import type { Failure } from '../threads/failures.ts';
import type { LedgerCondemned } from '../threads/messages.ts';
import type { LogBytesAnswer, ReceiptAnswer, ReceiptHolder } from './api.ts';
import type { Halt } from './stopped.ts';

/** Something that happened in the log worker. */
export type LogNotice =
  /** A head is served. */
  | { readonly kind: 'published'; readonly size: number; readonly note: string }
  /** A head has the quorum of cosignatures, which its note carries. */
  | {
      readonly kind: 'witnessed';
      readonly size: number;
      readonly note: string;
      readonly atMs: number;
    }
  | {
      readonly kind: 'counts';
      readonly pending: number;
      readonly oldestPendingMs: number | null;
      readonly setAside: number;
    }
  /** A turn has set entries aside. */
  | { readonly kind: 'set_aside'; readonly entries: number }
  /** Turns fail, for example while the database is unavailable; null: they succeed again. */
  | { readonly kind: 'delayed'; readonly reason: string | null }
  | { readonly kind: 'stopped'; readonly reason: string; readonly halt: Halt | null }
  /** `phm log recover` has ended the stop. */
  | { readonly kind: 'resumed' }
  /** An administrative action could not be recorded. */
  | { readonly kind: 'audit_lost'; readonly reason: string }
  /** A row differs from its logged entry. */
  | { readonly kind: 'altered'; readonly keyId: string; readonly reason: string }
  /** A submission to a witness failed; null: the first one after a failure succeeded. */
  | { readonly kind: 'witness'; readonly witness: string; readonly reason: string | null };

/** One request to the log worker. */
export type LogTask =
  | {
      readonly kind: 'receipt';
      readonly keyId: string;
      readonly holder: ReceiptHolder;
      readonly waitMs: number;
    }
  | {
      readonly kind: 'tile';
      readonly level: number;
      readonly index: number;
      readonly width: number;
    }
  | { readonly kind: 'entries'; readonly index: number; readonly width: number };

export type LogResult =
  | { readonly kind: 'answer'; readonly answer: ReceiptAnswer | LogBytesAnswer }
  | { readonly kind: 'failed'; readonly failure: Failure };

interface AuditTask {
  readonly audit: AuditAction;
  readonly details: JsonObject;
}

/** Messages from the main thread: tasks, audits, that keys were recorded, a damaged ledger, and the end. */
export type LogMessage =
  | { readonly id: number; readonly task: LogTask }
  | AuditTask
  | LedgerCondemned
  | 'recorded'
  | 'close';

export type LogReply = { readonly id: number; readonly result: LogResult } | LogNotice;

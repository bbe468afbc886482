/** The transparency log as `http/` and the metrics see it. */

import type { Halt } from './stopped.ts';

/** A statement with its proof in the form c2sp.org/tlog-proof@v1. */
export interface LogReceipt {
  readonly statement: Readonly<Record<string, unknown>>;
  readonly proof: string;
}

/** No log is configured, the server starts, or the log has stopped until an operator acts. */
export type LogUnavailable =
  | { readonly kind: 'off' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'stopped' };

/** Who asks for a receipt: the key's account, by its ID, or anyone who has the key's commitment, 32 bytes. */
export type ReceiptHolder = string | Uint8Array;

export type ReceiptAnswer =
  | LogUnavailable
  | { readonly kind: 'receipt'; readonly receipt: LogReceipt }
  /** The log does not hold the entry yet. */
  | { readonly kind: 'pending' }
  /** The log holds the entry, but no head with it has the quorum of witnesses yet. */
  | { readonly kind: 'not_cosigned' }
  /** The holder has no such key. */
  | { readonly kind: 'unknown_key' }
  /** The key is older than the log, or was generated without one. */
  | { readonly kind: 'no_receipt' }
  /** The ledger's row differs from the logged entry: the row was changed. */
  | { readonly kind: 'altered' };

/** Text of a signed note or of the policy. */
export type LogTextAnswer = LogUnavailable | { readonly kind: 'text'; readonly text: string };

export type LogBytesAnswer =
  | LogUnavailable
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** The published tree has no such tile, or none of this width. */
  | { readonly kind: 'absent' };

export interface LogStatus {
  readonly state: 'off' | 'starting' | 'running' | 'stopped';
  /** Reason of a stop, with what to do; null otherwise. */
  readonly reason: string | null;
  /** Why no key may leave this server; null while keys may, even if the log is stopped. */
  readonly halt: Halt | null;
  /** True if the last turn failed. The next one is due within a second. */
  readonly isDelayed: boolean;
  readonly origin: string | null;
  /** Size of the published tree. */
  readonly size: number;
  /** Time of the published head; null before the first. */
  readonly headMs: number | null;
  /** Size of the newest head that has the quorum; null without witnesses, or before the first. */
  readonly witnessedSize: number | null;
  /** Entries that wait in the database; null until they are counted. */
  readonly pending: number | null;
  /** Time of the oldest pending entry; null if none is known to be pending. */
  readonly oldestPendingMs: number | null;
  /** Entries set aside in the database; null until they are counted. */
  readonly setAside: number | null;
  /** Failed submissions since startup, by name of the witness. */
  readonly witnessFailures: ReadonlyMap<string, number>;
}

/** Methods that read the database reject with `ledger_unavailable` or `overloaded`. */
export interface LogApi {
  /**
   * Returns the receipt of a key. With `waitMs` > 0 it asks for a new head at once and waits for it. If witnesses
   * are configured, it also waits until enough of them have cosigned: other receipts would fail the log's own policy.
   */
  receipt(keyId: string, holder: ReceiptHolder, waitMs: number): Promise<ReceiptAnswer>;
  /** Returns the newest published checkpoint. */
  checkpoint(): LogTextAnswer;
  /** Returns `width` hashes (1 to 256) of a tile of the published tree. */
  tile(level: number, index: number, width: number): Promise<LogBytesAnswer>;
  /** Returns `width` entries (1 to 256) of an entry bundle in the form of c2sp.org/tlog-tiles. */
  entries(index: number, width: number): Promise<LogBytesAnswer>;
  /** Returns the policy that pins this log, in the form c2sp.org/tlog-policy. */
  policy(): LogTextAnswer;
  status(): LogStatus;
}

const NO_STATUS: LogStatus = {
  state: 'off',
  reason: null,
  halt: null,
  isDelayed: false,
  origin: null,
  size: 0,
  headMs: null,
  witnessedSize: null,
  pending: null,
  oldestPendingMs: null,
  setAside: null,
  witnessFailures: new Map(),
};

/** Returns a log that serves nothing, because it is off or has not started. */
export function absentLog(kind: 'off' | 'starting'): LogApi {
  const none = { kind };
  return {
    receipt: async () => none,
    checkpoint: () => none,
    tile: async () => none,
    entries: async () => none,
    policy: () => none,
    status: () => ({ ...NO_STATUS, state: kind }),
  };
}

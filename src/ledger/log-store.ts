/**
 * The transparency log's part of a ledger store: entries that wait, the tree, its heads, and the audit
 * records. `test/ledger/log-contract.ts` runs the contract against every store.
 *
 * A key's transaction adds a pending entry beside its row. A turn moves pending entries into the tree, in
 * one transaction, on any server. The ledger computes no hashes but those of leaves: callers bring the
 * arithmetic of RFC 6962 (`src/log`) as functions.
 */
import type { PendingEntry, RecordedRow } from './ledger-row.ts';

/**
 * The MAC of a head, under the master secret (`LogMacKeys.headMac`). A writer of the database, who can compute
 * the tree, cannot make it.
 */
export interface HeadSeal {
  /** 32 bytes. */
  readonly mac: Uint8Array;
  /** Version of the master secret. */
  readonly version: number;
}

/** One log. The open log, of which there is at most one, has `closedMs` null. */
export interface LogRecord {
  readonly logId: number;
  readonly origin: string;
  /** The log's verifier keys, one a line. */
  readonly verifierKeys: string;
  readonly startedMs: number;
  readonly closedMs: number | null;
  readonly size: number;
  /** Root of the tree of `size` entries, 32 bytes. */
  readonly root: Uint8Array;
  readonly seal: HeadSeal;
  /** The newest published checkpoint, a signed note. */
  readonly checkpoint: string | null;
  /** The newest checkpoint with enough cosignatures of witnesses. */
  readonly witnessed: string | null;
  /**
   * True if the database was restored, promoted or moved since the log's start or the last `recordHome`. It may then lack
   * published entries. SQLite has no such mark: false.
   */
  readonly isMoved: boolean;
}

/** The right edge of a tree, from which it can be extended. */
export interface Edge {
  readonly size: number;
  readonly root: Uint8Array;
  readonly seal: HeadSeal;
  /** The hashes of the partial rightmost tile of each level from 0 on, 32 bytes each; empty if none. */
  readonly tiles: readonly Uint8Array[];
}

/** A tile of up to 256 hashes (c2sp.org/tlog-tiles). */
export interface Tile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Uint8Array;
}

/** The tree after new entries. */
export interface Extension {
  readonly size: number;
  readonly root: Uint8Array;
  readonly seal: HeadSeal;
  /** New full tiles of level 0, and every changed tile of a higher level, partial or full. */
  readonly tiles: readonly Tile[];
}

/** Judges the seal of the edge, and computes the tree after `entries`. May throw: the transaction then rolls back with that error. */
export type Extend = (edge: Edge, entries: readonly Uint8Array[]) => Extension;

export interface Turn {
  readonly logId: number;
  /** Most pending entries that this turn takes. */
  readonly limit: number;
  /**
   * Returns true if the entry may be appended. Others are set aside. A store that finds another turn between
   * its reads and its writes begins again, so `judge` and `extend` may run twice.
   */
  judge(entry: PendingEntry): boolean;
  extend: Extend;
}

export interface TurnOutcome {
  readonly appended: number;
  readonly setAside: number;
  /** True if the turn took as many entries as it may, so more may wait. */
  readonly more: boolean;
  /** Size and root of the tree after the turn. */
  readonly size: number;
  readonly root: Uint8Array;
}

export interface LogStart {
  readonly origin: string;
  readonly verifierKeys: string;
  readonly startedMs: number;
  /** Entry 0; null: the log starts empty. */
  readonly first: Uint8Array | null;
  /** The tree that holds `first` alone, or the empty tree. */
  readonly tree: Extension;
  /**
   * The log that this one follows, at the size of its last checkpoint. If another log is open, or the log
   * has another size, the store rejects and changes nothing. Absent: any open log is closed.
   */
  readonly closes?: { readonly logId: number; readonly size: number };
}

/** The position of an entry in a log. */
export interface LogPosition {
  readonly logId: number;
  readonly index: number;
}

/** The state of an entry: in a log, waiting, or unknown to all logs. */
export type Logged = LogPosition | 'pending' | null;

/** An entry of a log. */
export interface LogEntry {
  readonly index: number;
  readonly entry: Uint8Array;
  /** Null for entries without a statement here. */
  readonly entryId: Uint8Array | null;
  /** `start`: entry 0 of a log that follows another. `recovered`: from a copy, and its statement is gone. */
  readonly kind: PendingEntry['kind'] | 'start' | 'recovered';
}

/** Counts, which end at 100,000: servers of a stopped log count every two seconds, and millions of entries may wait. */
export interface LogCounts {
  readonly pending: number;
  /** The time in the entry ID of the oldest pending entry; null without one. */
  readonly oldestPendingMs: number | null;
  readonly setAside: number;
}

/** An administrative action that is itself an entry of the log. */
export type AuditAction =
  | 'account_created'
  | 'account_suspended'
  | 'account_resumed'
  | 'account_deleted'
  | 'plan_set'
  | 'sealed_only_set'
  | 'recipient_added'
  | 'recipient_removed'
  | 'api_key_issued'
  | 'api_key_rotated'
  | 'api_key_revoked'
  | 'key_revoked'
  | 'secret_activated'
  | 'secret_retired'
  | 'secret_reinstated'
  | 'retention_set'
  | 'plans_configured'
  | 'pruned'
  | 'log_started'
  | 'log_recovered';

export interface AuditRecord {
  /** UUIDv7, 16 bytes. */
  readonly auditId: Uint8Array;
  readonly atMs: number;
  readonly action: AuditAction;
  /** Canonical JSON (RFC 8785). */
  readonly details: string;
  /** 32 random bytes that blind the entry. */
  readonly salt: Uint8Array;
  /** The entry of this record, with `auditId` as its entry ID; null without a log, and when read. */
  readonly pending: PendingEntry | null;
}

/** Returns the members of the details; none if a waiting record was changed to something else. */
export function detailsOf(details: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(details));
  } catch {
    return {};
  }
}

export interface LogStore {
  /** Returns all logs by ascending `logId`. */
  logs(): Promise<LogRecord[]>;
  /**
   * Starts a log and closes the open one. Returns the open log unchanged if it has this origin and these
   * keys, so that servers may start at the same time. Rejects with `SetupError` if the origin is taken by
   * another log, or if `closes` does not match.
   */
  startLog(start: LogStart): Promise<LogRecord>;
  /**
   * Appends pending entries to a log, in one transaction that excludes other turns: locks the head, takes
   * every visible pending entry of this log (oldest entry ID first, at most `limit`), judges, extends,
   * writes. Sets aside an entry that `judge` refuses, and one whose ID already has an entry. Changes
   * nothing if the log is closed or `isMoved`. Rejects with the error of `judge` or `extend`, and then changes nothing.
   *
   * After a lost answer the turn may or may not have happened. The next turn continues from what is stored.
   */
  takeTurn(turn: Turn): Promise<TurnOutcome>;
  /** Records that the log may continue where the database is now, so that it is not `isMoved`. */
  recordHome(logId: number): Promise<void>;
  /** Returns pending entries that were made for other logs than the open one, oldest first. */
  strandedEntries(openLogId: number, limit: number): Promise<PendingEntry[]>;
  /**
   * Moves pending entries of closed logs to the log that they now name, with their new entry and MAC. Skips
   * those that no longer wait.
   */
  restamp(entries: readonly PendingEntry[]): Promise<void>;
  /**
   * Returns the stored hashes of a tile; null if it is not stored. Full tiles of every level are stored, and
   * the rightmost tile of each level above 0. That one may hold hashes of entries beyond a published head.
   */
  readTile(logId: number, level: number, index: number): Promise<Uint8Array | null>;
  /** Returns the entries from `from` to before `to`, 32 bytes each; fewer at the end of the log. */
  readEntries(logId: number, from: number, to: number): Promise<Uint8Array>;
  findLogged(entryId: Uint8Array): Promise<Logged>;
  /** Returns the row of a key; null without one. */
  findRecord(keyId: Uint8Array): Promise<RecordedRow | null>;
  /** Stores a published note, unless one for a larger tree is stored. */
  saveCheckpoint(
    logId: number,
    size: number,
    note: string,
    kind: 'checkpoint' | 'witnessed',
  ): Promise<void>;
  logCounts(logId: number): Promise<LogCounts>;
  /** Returns the rows after a key ID in its order, null from the first on, with the state of their entries. */
  pageRecords(
    after: Uint8Array | null,
    limit: number,
  ): Promise<{ readonly record: RecordedRow; readonly logged: Logged }[]>;
  pageEntries(logId: number, from: number, limit: number): Promise<LogEntry[]>;
  /**
   * Appends entries of a copy to the log, in one transaction. A pending row with the same entry gives the
   * entry its ID and kind, and waits no longer. `extend` sees the edge first and throws if it does not fit.
   */
  recoverEntries(logId: number, entries: readonly Uint8Array[], extend: Extend): Promise<void>;
  /** Returns the number of this software, which is added if it is new. */
  registerSoftware(name: string): Promise<number>;
  /** Returns the audit records after an ID in its order, null from the first on. */
  audits(after: Uint8Array | null, limit: number): Promise<AuditRecord[]>;
  /** Returns the newest audit record of an action, by its ID; null without one. */
  lastAudit(action: AuditAction): Promise<AuditRecord | null>;
}

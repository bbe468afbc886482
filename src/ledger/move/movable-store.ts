/**
 * The interface of a store that can be moved: one consistent snapshot to read, or one transaction to fill
 * it. Rejects with `SetupError` if the database cannot do its part.
 */
import type { RowCounts, TableName, Value } from '../tables.ts';

/** Rows in the order of `TABLES[table].columns`. */
export type Rows = readonly (readonly Value[])[];

/** A row of values as the database returns them. */
export type RawRow = readonly (Value | bigint)[];

/** All tables as they were at one moment, while others keep writing. */
export interface Snapshot {
  counts(): Promise<RowCounts>;
  /** Yields rows in the order of their primary key, a few thousand at a time. */
  rows(table: TableName): AsyncIterable<Rows>;
  /**
   * Like `rows`, with one extra column and without validation: whole numbers can have any size, as bigint
   * if the store has no other form.
   */
  rawRows(table: TableName, extra?: string): AsyncIterable<readonly RawRow[]>;
  /** Runs one statement that reads, and returns its rows, which must be few. */
  ask(sql: string): Promise<readonly Record<string, unknown>[]>;
}

/** An export must hold everything; a verification checks what this program knows. */
export type SnapshotUse = 'export' | 'verify';

/** An empty store, within a transaction. */
export interface EmptyStore {
  insert(table: TableName, rows: Rows): Promise<void>;
  /** Returns rows and sums by account, in the form of `Tally`. */
  tally(table: TableName): Promise<ReadonlyMap<string, string>>;
}

export interface MovableStore {
  /**
   * Reads a snapshot. Rejects with `SetupError` before `work` if a newer release has migrated the schema:
   * always for an export, otherwise only if this program cannot work with it.
   */
  dump<T>(use: SnapshotUse, work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /**
   * Fills the store. Commits what `work` has inserted when it resolves, and nothing when it rejects. Other
   * writers wait or fail in the meantime. Rejects with `SetupError` before `work` if any table has rows.
   */
  load<T>(work: (store: EmptyStore) => Promise<T>): Promise<T>;
}

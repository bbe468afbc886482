/**
 * What a store offers for the move of its contents: one consistent snapshot to read, or one transaction
 * to fill it by. Rejects with `SetupError` when the database cannot do its part.
 */
import type { RowCounts, TableName, Value } from './tables.ts';

/** Rows in the order of `TABLES[table].columns`. */
export type Rows = readonly (readonly Value[])[];

/** A row of values as a database has them. */
export type RawRow = readonly (Value | bigint)[];

/** All tables as they were at one moment, while others go on writing. */
export interface Snapshot {
  counts(): Promise<RowCounts>;
  /** The rows in the order of their primary key, some thousands at a time. */
  rows(table: TableName): AsyncIterable<Rows>;
  /**
   * The same with one column more, and with values that no program writes: whole numbers of any size, as bigint
   * where the store has no other form.
   */
  rawRows(table: TableName, extra?: string): AsyncIterable<readonly RawRow[]>;
  /** Runs one statement that reads, and gives its rows, which must be few. */
  ask(sql: string): Promise<readonly Record<string, unknown>[]>;
}

/** An export has to hold everything; a verification looks at what this program knows. */
export type SnapshotUse = 'export' | 'verify';

/** An empty store within a transaction. */
export interface EmptyStore {
  insert(table: TableName, rows: Rows): Promise<void>;
  /** Rows and sums by account, as `Tally` writes them. */
  tally(table: TableName): Promise<ReadonlyMap<string, string>>;
}

export interface MovableStore {
  /**
   * Rejects with `SetupError` before `work` when a newer release has made the schema: for an export always, else when
   * this program cannot work with it.
   */
  dump<T>(use: SnapshotUse, work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /**
   * Commits what `work` has inserted when it resolves, and nothing when it rejects. Other writers wait
   * or fail meanwhile. Rejects with `SetupError` before `work` when any table has rows.
   */
  load<T>(work: (store: EmptyStore) => Promise<T>): Promise<T>;
}

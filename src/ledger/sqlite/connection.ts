/** One SQLite connection with its prepared statements. */
import { accessSync, constants, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { SetupError } from '../../errors.ts';
import { addCounts, formatCounts, parseCounts } from '../latency.ts';
import { requirement } from '../migrations.ts';
import { DisturbedError } from '../postgres/disturbed-error.ts';
import { unavailable } from '../unavailable.ts';
import { damagedDatabase, isDamage, MovedFileError } from './damage.ts';
import { sqliteBytes } from './file-size.ts';
import { type Insertion, ROWS } from './insertion.ts';
import { OpenFiles } from './open-files.ts';
import { BUSY_TIMEOUT_MS, openDatabase, openToRead } from './schema.ts';
import { SchemaGuard } from './schema-guard.ts';
import type { WriteGate } from './write-gate.ts';

export type Row = Record<string, unknown>;

/** Length of SQLite's log in pages from which `emptyLog` copies it: half of where a commit would do so itself. */
const LONG_LOG_PAGES = 4_000;

/** Of SQLite's log (wal.ts names the format). */
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Log space for a batch of a thousand keys, with a margin. */
const LARGE_BATCH_BYTES = 4 * 2 ** 20;

interface ConnectionOptions {
  readonly readOnly?: boolean;
  /** Shared with the other writing threads of this process; null for a connection that writes alone. */
  readonly gate?: WriteGate | null;
}

export class SqliteConnection {
  readonly #path: string;
  readonly #gate: WriteGate | null;
  readonly #openFile: (path: string) => DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #database: DatabaseSync;
  #guard: SchemaGuard;
  readonly #files: OpenFiles;
  readonly #readOnly: boolean;
  /** Set permanently once SQLite has found the file damaged. Its rows then prove nothing. */
  #damage: Error | null = null;

  /** Opens the file, which must exist if it is only read. Throws `SetupError` if it cannot be used. */
  constructor(path: string, { readOnly = false, gate = null }: ConnectionOptions = {}) {
    this.#path = path;
    this.#gate = gate;
    this.#openFile = readOnly ? openToRead : openWithFunctions;
    this.#readOnly = readOnly;
    this.#database = this.#openFile(path);
    this.#guard = this.#guardOf(this.#database);
    this.#files = new OpenFiles(path);
    if (!readOnly) this.#files.opened();
  }

  /** Device and inode of the database. */
  get place(): string {
    return this.#files.place;
  }

  /** Takes the write lock. Throws if another process holds it for longer than `waitMs`. */
  begin(waitMs: number = BUSY_TIMEOUT_MS): void {
    const database = this.#open();
    // Here, because SQLite does not tell the length of its log within a transaction.
    this.#requireFiles();
    this.#noting(() => {
      if (waitMs === BUSY_TIMEOUT_MS) {
        database.exec('BEGIN IMMEDIATE');
        return;
      }
      database.exec(`PRAGMA busy_timeout = ${waitMs}`);
      try {
        database.exec('BEGIN IMMEDIATE');
      } finally {
        database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      }
    });
  }

  /** Throws also if a file was moved meanwhile: then the transaction may be lost with this process. */
  commit(): void {
    this.#noting(() => this.#database.exec('COMMIT'));
    this.#requireFiles();
  }

  /**
   * Throws `MovedFileError` unless all files are in their places. Of a log that was removed, this process holds the only
   * copy, with commits that it has answered: it copies them into the database at once.
   */
  #requireFiles(): void {
    if (this.#readOnly) return;
    try {
      this.#files.require({
        databaseBytes: () => this.#pageBytes() * Number(this.get('PRAGMA page_count')?.page_count),
        logBytes: () => this.#logBytes(),
      });
    } catch (error) {
      this.rollBack();
      if (error instanceof MovedFileError && error.holdsLog) this.#rescueLog();
      throw error;
    }
  }

  /** Copies the log into the database. With the index in its place, no other process has begun another log. */
  #rescueLog(): void {
    try {
      this.get('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // The error of the file follows.
    }
  }

  /** Returns how long the log must be to hold what is committed. */
  #logBytes(): number {
    const pages = this.#logPages();
    return pages > 0 ? LOG_HEADER_BYTES + pages * (FRAME_HEADER_BYTES + this.#pageBytes()) : 0;
  }

  #pageBytes(): number {
    return Number(this.get('PRAGMA page_size')?.page_size);
  }

  rollBack(): void {
    try {
      if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // SQLite has ended the transaction itself, as it does on a full disk.
    }
  }

  /**
   * Runs `work` in one transaction and returns its result when the transaction is durable. Throws the error
   * of `work`, or of the database, and then nothing was changed.
   *
   * After a failed COMMIT the log may or may not hold the transaction. Seeing its rows afterwards would not
   * prove them durable: a failed sync may have left them only in the page cache. So the transaction counts
   * as refused whatever can be read. A fresh connection recovers the log before the next use.
   */
  transact<T>(work: () => T): T {
    return this.#gate ? this.#gate.pass(() => this.#transact(work)) : this.#transact(work);
  }

  #transact<T>(work: () => T): T {
    let result: T;
    try {
      this.begin();
      result = work();
    } catch (error) {
      this.rollBack();
      throw error;
    }
    this.commitOrClose();
    return result;
  }

  /**
   * Commits. Closes the connection if that fails, for the reason at `transact`; but not if a file was moved, because this
   * process may hold the only copy of it.
   */
  commitOrClose(): void {
    try {
      this.commit();
    } catch (error) {
      this.rollBack();
      if (!(error instanceof MovedFileError)) this.close();
      throw error;
    }
  }

  /**
   * Copies SQLite's log into the database once it is long, so that no commit has to: that takes 15 ms and more (measured).
   * The first pass runs beside commits of other threads. The second keeps them out, so that it reaches the end of the log;
   * it is short, and the next commit begins the log anew. A failure changes nothing, as after a commit.
   */
  emptyLog(minPages: number = LONG_LOG_PAGES): void {
    try {
      if (this.#logPages() < minPages) return;
      this.get('PRAGMA wal_checkpoint(PASSIVE)');
      const finish = () => this.get('PRAGMA wal_checkpoint(PASSIVE)');
      if (this.#gate) this.#gate.pass(finish);
    } catch {
      // The next transaction reports what is wrong with the disk or the file.
    }
  }

  /** Returns the length of SQLite's log in pages. */
  #logPages(): number {
    return Number(this.get('PRAGMA wal_checkpoint(NOOP)')?.log);
  }

  /** Closes the connection. The next use opens a fresh one, which sees only what the file holds. */
  close(): void {
    this.#statements.clear();
    if (!this.#database.isOpen) return;
    this.#database.close();
    this.#files.closed();
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#noting(() => this.#statement(sql).get(...values));
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#noting(() => this.#statement(sql).all(...values));
  }

  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    const { changes } = this.#noting(() => this.#statement(sql).run(...values));
    if (!this.#database.isTransaction) this.#requireFiles();
    return Number(changes);
  }

  /** Inserts rows, `ROWS` at a time while there are as many. */
  insert({ one, several }: Insertion, rows: readonly SQLInputValue[][]): void {
    const whole = rows.length - (rows.length % ROWS);
    for (let i = 0; i < whole; i += ROWS) this.run(several, ...rows.slice(i, i + ROWS).flat());
    for (const row of rows.slice(whole)) this.run(one, ...row);
  }

  /** Runs a statement that changes at most one row. Returns true if it changed one. */
  changes(sql: string, ...values: SQLInputValue[]): boolean {
    return this.run(sql, ...values) === 1;
  }

  /** Makes programs before a schema version refuse the ledger, within a transaction; 0: none. */
  requireProgram(version: number): void {
    if (version > 0) this.run(requirement(version));
  }

  /**
   * Writes a page within a transaction that changes nothing, so that its commit reaches the disk: it then confirms what an
   * earlier commit, whose sync failed, may have left in the log. SQLite writes no page for an unchanged value, so a value
   * is changed and changed back.
   */
  writeUnchanged(): void {
    this.run('UPDATE schema_version SET version = version + 1');
    this.run('UPDATE schema_version SET version = version - 1');
  }

  /**
   * Runs `work` and converts every failure of the database to `ledger_unavailable`. Fails also if the database is not in
   * its place: what the open file says may no longer be true.
   */
  guarded<T>(work: () => T): T {
    try {
      this.#files.requireDatabase();
      return work();
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Runs a call of SQLite. Once a call has found damage, every later one throws the same error. */
  #noting<T>(call: () => T): T {
    if (this.#damage) throw this.#damage;
    try {
      return call();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#damage = damagedDatabase(this.#path, (error as Error).message);
      throw this.#damage;
    }
  }

  /**
   * Throws if the disk has no room for a large batch or has become read-only. A small write may still fit
   * into the existing log.
   */
  assertRoom(): void {
    accessSync(this.#path, constants.W_OK);
    const { bavail, bsize } = statfsSync(dirname(this.#path));
    if (bavail * bsize < LARGE_BATCH_BYTES) throw new Error('the disk is full');
  }

  /** Resolves with the bytes of the file and its write-ahead log. */
  sizeBytes(): Promise<number> {
    return sqliteBytes(this.#path);
  }

  /** Returns the database, reopened if an earlier failure closed it. */
  #open(): DatabaseSync {
    if (!this.#database.isOpen) {
      this.#files.requireDatabase();
      this.#database = this.#openFile(this.#path);
      this.#guard = new SchemaGuard(this.#database);
      this.#files.opened();
    }
    return this.#database;
  }

  /** Returns the guard of a database that was just opened. Throws `SetupError` if its rows can be missing or wrong. */
  #guardOf(database: DatabaseSync): SchemaGuard {
    try {
      const guard = new SchemaGuard(database);
      guard.require();
      return guard;
    } catch (cause) {
      database.close();
      if (!(cause instanceof DisturbedError)) throw cause;
      throw new SetupError(`cannot use the database ${this.#path}: ${cause.message}`, { cause });
    }
  }

  #statement(sql: string): StatementSync {
    this.#open();
    this.#guard.require();
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#open().prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/**
 * Opens the database with the function `add_counts`, the sum of two lists of counts, which PostgreSQL's
 * schema also has.
 */
function openWithFunctions(path: string): DatabaseSync {
  const database = openDatabase(path);
  database.function('add_counts', { deterministic: true }, (kept, more) => {
    if (typeof kept !== 'string' || typeof more !== 'string') return kept ?? more;
    const counts = parseCounts(kept);
    addCounts(counts, parseCounts(more));
    return formatCounts(counts);
  });
  return database;
}

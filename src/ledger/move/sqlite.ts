/**
 * Moves a ledger out of the embedded store in a read transaction, or into an empty file in a write
 * transaction.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { SetupError } from '../../errors.ts';
import {
  isNewerSchema,
  newestVersion,
  readMigrations,
  refuseNewerExport,
  requirement,
} from '../migrations.ts';
import { neededProgram } from '../needed-program.ts';
import { openDatabase, openSnapshot, readSchema } from '../sqlite/schema.ts';
import { SchemaGuard } from '../sqlite/schema-guard.ts';
import {
  accountColumn,
  batchRows,
  columnsOf,
  keyColumns,
  mayBeAbsent,
  type RowCounts,
  TABLE_NAMES,
  type TableName,
  type Value,
} from '../tables.ts';
import type {
  EmptyStore,
  MovableStore,
  RawRow,
  Rows,
  Snapshot,
  SnapshotUse,
} from './movable-store.ts';
import { fingerprintOf, hasFingerprint } from './row-values.ts';
import { refuseFilled } from './tally.ts';

const BATCH_ROWS = 1_000;

export class MovableSqlite implements MovableStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads a snapshot. In WAL mode a reader sees one state and blocks no writer. */
  dump<T>(use: SnapshotUse, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return this.#transaction(openSnapshot, 'BEGIN', (database) => {
      const newest = newestVersion(readMigrations('sqlite'));
      if (use === 'export') {
        refuseNewerExport(readSchema(database), newest);
        guarded(() => new SchemaGuard(database).require());
      }
      if (use !== 'export') isNewerSchema('the database', readSchema(database), newest);
      return work({
        counts: async () => guarded(() => countRows(database)),
        rows: (table) => readRows(database, table),
        rawRows: (table, extra) => readRawRows(database, table, extra),
        ask: async (sql) => guarded(() => database.prepare(sql).all()),
      });
    });
  }

  load<T>(work: (store: EmptyStore) => Promise<T>): Promise<T> {
    return this.#transaction(openDatabase, 'BEGIN IMMEDIATE', async (database) => {
      refuseFilled(guarded(() => countRows(database)));
      const result = await work({
        insert: async (table, rows) => guarded(() => insertRows(database, table, rows)),
        tally: async (table) => guarded(() => tallyRows(database, table)),
      });
      guarded(() => database.exec('COMMIT'));
      return result;
    });
  }

  async #transaction<T>(
    open: (path: string) => DatabaseSync,
    begin: string,
    work: (database: DatabaseSync) => Promise<T>,
  ): Promise<T> {
    const database = open(this.#path);
    try {
      guarded(() => database.exec(begin));
      return await work(database);
    } finally {
      // Ends the transaction if it is still open.
      database.close();
    }
  }
}

/** Counts the rows of each table. A database of an earlier release may have fewer tables. */
export function countRows(database: DatabaseSync): RowCounts {
  const found = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = new Set(found.map(({ name }) => name));
  const sums = TABLE_NAMES.map((table) =>
    mayBeAbsent(table, 0) && !names.has(table)
      ? `0 AS ${table}`
      : `(SELECT count(*) FROM ${table}) AS ${table}`,
  );
  return { ...database.prepare(`SELECT ${sums.join(', ')}`).get() } as RowCounts;
}

async function* readRows(database: DatabaseSync, table: TableName): AsyncGenerator<Rows> {
  const flags = columnsOf(table).flatMap(({ kind }, i) => (kind === 'flag' ? [i] : []));
  for (const batch of batchesOf<Value[]>(
    selectRows(database, table),
    batchRows(table, BATCH_ROWS),
  )) {
    for (const row of batch) for (const i of flags) row[i] = row[i] === 1;
    yield batch;
  }
}

async function* readRawRows(
  database: DatabaseSync,
  table: TableName,
  extra?: string,
): AsyncGenerator<readonly RawRow[]> {
  const statement = selectRows(database, table, extra);
  statement.setReadBigInts(true);
  yield* batchesOf<RawRow>(statement, batchRows(table, BATCH_ROWS));
}

function selectRows(database: DatabaseSync, table: TableName, extra?: string): StatementSync {
  const names = columnsOf(table).map(({ name }) => name);
  if (extra !== undefined) names.push(extra);
  const order = keyColumns(table).join(', ');
  const statement = guarded(() =>
    database.prepare(`SELECT ${names.join(', ')} FROM ${table} ORDER BY ${order}`),
  );
  statement.setReturnArrays(true);
  return statement;
}

function* batchesOf<Row>(statement: StatementSync, most: number): Generator<Row[]> {
  const rows = statement.iterate() as unknown as Iterator<Row>;
  for (;;) {
    const batch: Row[] = [];
    while (batch.length < most) {
      const { done, value } = guarded(() => rows.next());
      if (done) break;
      batch.push(value);
    }
    if (batch.length === 0) return;
    yield batch;
  }
}

function insertRows(database: DatabaseSync, table: TableName, rows: Rows): void {
  const names = columnsOf(table).map(({ name }) => name);
  if (hasFingerprint(table)) names.push('fingerprint');
  const needed = neededProgram(table, rows);
  if (needed > 0) database.exec(requirement(needed));
  const places = names.map(() => '?').join(', ');
  const insert = database.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`);
  const index = database.prepare('INSERT INTO fingerprints (fingerprint, key_id) VALUES (?, ?)');
  const keyId = columnsOf(table).findIndex(({ name }) => name === 'key_id');
  for (const row of rows) {
    const values = row.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    const derived: SQLInputValue[] = hasFingerprint(table) ? [fingerprintOf(row)] : [];
    insert.run(...values, ...derived);
    // Merged at once: the import is one transaction.
    if (table === 'ledger') index.run(fingerprintOf(row), row[keyId] as Uint8Array);
  }
}

function tallyRows(database: DatabaseSync, table: TableName): Map<string, string> {
  const sums = columnsOf(table)
    .filter((column) => column.summed)
    .map(({ name }) => ` || ' ' || sum(${name})`);
  const account = accountColumn(table) < 0 ? "''" : 'account_id';
  const found = database
    .prepare(
      `SELECT ${account} AS account, count(*)${sums.join('')} AS tally FROM ${table} GROUP BY 1`,
    )
    .all();
  return new Map(found.map((row) => [String(row.account), String(row.tally)]));
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new SetupError(`the database failed: ${(cause as Error).message}`, { cause });
  }
}

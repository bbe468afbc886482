/** Opens the SQLite database and migrates its schema. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { SetupError } from '../../errors.ts';
import { makeDirectory } from '../../files/make-directory.ts';
import {
  isNewerSchema,
  type Migration,
  missingMigrations,
  newestVersion,
  oldestProgram,
  readMigrations,
  refuseBeforeBaseline,
  type SchemaChange,
  type SchemaState,
} from '../migrations.ts';
import { openingFailure, wayBack } from './damage.ts';
import { requireReadable, requireWritable } from './files.ts';

/** Time for which a writer waits for another process's transaction. */
export const BUSY_TIMEOUT_MS = 5_000;

/**
 * Length of the log in pages (32 MiB) at which a checkpoint copies it into the database: a page that several
 * batches changed is copied once, not each time.
 */
const CHECKPOINT_PAGES = 8_000;

/**
 * Opens the database file, creating it if it is missing, and migrates its schema. WAL with
 * `synchronous=FULL` syncs the log at every commit, so a committed transaction survives loss of power, not
 * only a crash of the process. Throws `SetupError` if the file cannot be opened or this program cannot work
 * with its schema.
 */
export function openDatabase(path: string): DatabaseSync {
  return openMigrated(path, readMigrations('sqlite')).database;
}

/**
 * Opens an existing database to read it, and leaves nothing behind. Throws `SetupError` if it cannot be
 * read or this program cannot work with its schema.
 *
 * A connection that only reads a WAL database creates a missing log and index and does not remove them. If
 * no server has the database open there is no log, and `immutable` avoids creating one. A server that
 * starts at this moment writes to its log, not to the file.
 */
export function openToRead(path: string): DatabaseSync {
  return openReadOnly(path, assertUsable);
}

/**
 * Throws `SetupError` if the database holds the ledger of an earlier release or cannot be read. Accepts a
 * missing or empty file.
 */
export function refuseOlderSchema(path: string): void {
  if (existsSync(path)) openReadOnly(path, assertNotOlder).close();
}

/**
 * Opens an existing database for one long read. Servers may write at the same time, so it has a log and an
 * index like theirs; the last connection to close removes them. Throws like `openToRead`.
 */
export function openSnapshot(path: string): DatabaseSync {
  requireWritable(path);
  const url = pathToFileURL(path);
  url.search = 'mode=rw';
  return openExisting(path, url, { readOnly: false, check: assertUsable });
}

/** Opens an existing database of any schema to read it. Throws like `openToRead`, but not because of the schema. */
export function openOfAnySchema(path: string): DatabaseSync {
  return openReadOnly(path, refuseForeign);
}

/** Throws `SetupError` if the schema is unsuitable. */
type SchemaCheck = (database: DatabaseSync, path: string) => void;

function openReadOnly(path: string, check: SchemaCheck): DatabaseSync {
  requireReadable(path);
  return openExisting(path, readOnlyUrl(path), { readOnly: true, check });
}

/** Returns the address under which SQLite only reads a file. `openToRead` says why. */
export function readOnlyUrl(path: string): URL {
  const url = pathToFileURL(path);
  url.search = existsSync(`${path}-wal`) ? 'mode=ro' : 'mode=ro&immutable=1';
  return url;
}

function openExisting(
  path: string,
  url: URL,
  { readOnly, check }: { readOnly: boolean; check: SchemaCheck },
): DatabaseSync {
  try {
    const database = new DatabaseSync(url, { timeout: BUSY_TIMEOUT_MS, readOnly });
    try {
      check(database, path);
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  } catch (cause) {
    if (cause instanceof SetupError) throw cause;
    throw openingFailure(path, cause, {
      verb: 'read',
      remedy: 'check PHM_DATA_DIR, and run this as the user of the server',
    });
  }
}

/** Names a database in messages. */
function subject(path: string): string {
  return `the database ${path}`;
}

/** Throws `SetupError` unless this program can work with the schema. */
function assertUsable(database: DatabaseSync, path: string): void {
  if (schemaVersion(database) === 0) {
    refuseForeign(database, path);
    throw noLedger(path);
  }
  assertNotOlder(database, path);
  isNewerDatabase(database, path);
}

/** Reports a database that is new or was emptied. */
export function noLedger(path: string): SetupError {
  return new SetupError(
    `the database ${path} holds no ledger. Check PHM_DATA_DIR first. ${wayBack(path)}`,
  );
}

/** Tables of the first schema that no migration removes. */
const OWN_TABLES = ['accounts', 'api_keys', 'ledger', 'secret_checks', 'usage'];

/** Throws `SetupError` if another program created the database. */
export function refuseForeign(database: DatabaseSync, path: string): void {
  if (!isForeign(database)) return;
  throw new SetupError(
    `${path} is not a database of this service: another program created it. Check PHM_DATA_DIR first. ` +
      `${wayBack(path)}`,
  );
}

/** Returns true if another program created the database. */
export function isForeign(database: DatabaseSync): boolean {
  // One statement sees one state, even while another process creates the schema.
  const found = database
    .prepare(
      `SELECT (SELECT user_version FROM pragma_user_version) AS version, count(*) AS others,
         count(*) FILTER (WHERE type = 'table' AND name IN ('${OWN_TABLES.join("', '")}')) AS own
       FROM sqlite_schema`,
    )
    .get();
  const { version, own, others } = found as Record<string, number>;
  return version === 0 ? others > 0 : own < OWN_TABLES.length;
}

function assertNotOlder(database: DatabaseSync, path: string): void {
  refuseForeign(database, path);
  const migrations = readMigrations('sqlite');
  const newest = newestVersion(migrations);
  const found = schemaVersion(database);
  if (found === 0 || found >= newest) return;
  refuseBeforeBaseline(subject(path), found, migrations);
  throw new SetupError(
    `${subject(path)} has schema version ${found}, and this program needs ${newest}. Start ` +
      'the server of this release, or run: phm migrate',
  );
}

/**
 * Returns true if a newer release has migrated the schema and this program can work with it. Throws
 * `SetupError` if it cannot.
 */
export function isNewerDatabase(
  database: DatabaseSync,
  path: string,
  migrations: readonly Migration[] = readMigrations('sqlite'),
): boolean {
  return isNewerSchema(subject(path), readSchema(database), newestVersion(migrations));
}

/** Migrates the schema and returns its versions before and after. Throws like `openDatabase`. */
export function migrateDatabase(
  path: string,
  migrations: readonly Migration[] = readMigrations('sqlite'),
): SchemaChange {
  const { database, change } = openMigrated(path, migrations);
  database.close();
  return change;
}

function openMigrated(
  path: string,
  migrations: readonly Migration[],
): { database: DatabaseSync; change: SchemaChange } {
  let database: DatabaseSync | undefined;
  try {
    makeDirectory(dirname(path));
    requireWritable(path);
    database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    refuseForeign(database, path);
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;' +
        `PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    );
    return { database, change: migrate(database, path, migrations) };
  } catch (cause) {
    database?.close();
    if (cause instanceof SetupError) throw cause;
    throw openingFailure(path, cause, {
      verb: 'open',
      remedy:
        'check that PHM_DATA_DIR names a directory this user can write to, on a disk with free space, and run this ' +
        'as the user of the server',
    });
  }
}

/**
 * Applies the missing migrations in one transaction, one process at a time. Leaves a newer schema unchanged
 * if this program can work with it.
 */
function migrate(
  database: DatabaseSync,
  path: string,
  migrations: readonly Migration[],
): SchemaChange {
  const program = newestVersion(migrations);
  const found = schemaVersion(database);
  if (found === program || isNewerDatabase(database, path, migrations)) {
    return { from: found, to: found, program };
  }
  database.exec('BEGIN IMMEDIATE');
  try {
    const from = schemaVersion(database);
    const to = isNewerDatabase(database, path, migrations) ? from : program;
    const missing = missingMigrations(subject(path), from, migrations);
    // What the ledger holds may need newer programs than its schema does.
    const { oldestProgram: needed } = readSchema(database);
    const oldest = Math.max(oldestProgram(missing), needed ?? 0);
    for (const { sql } of missing) database.exec(sql);
    if (missing.length > 0) writeVersion(database, program, oldest);
    database.exec('COMMIT');
    return { from, to, program };
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function writeVersion(database: DatabaseSync, version: number, oldest: number): void {
  database.exec(`PRAGMA user_version = ${version}`);
  database.exec('DELETE FROM schema_version');
  database
    .prepare('INSERT INTO schema_version (version, oldest_program) VALUES (?, ?)')
    .run(version, oldest);
}

/**
 * Returns the schema that a connection sees. Ignores a row of another version, which no migration wrote.
 */
export function readSchema(database: DatabaseSync): SchemaState {
  const version = schemaVersion(database);
  const table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'";
  if (!database.prepare(table).get()) return { version, oldestProgram: null };
  const row = database
    .prepare('SELECT oldest_program AS oldest FROM schema_version WHERE version = ?')
    .get(version);
  return { version, oldestProgram: row ? Number(row.oldest) : null };
}

function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}

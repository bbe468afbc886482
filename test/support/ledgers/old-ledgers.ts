/** Ledgers of the schemas before the baseline, made by the migrations of then: `test/ledger/fixtures/README.md`. */
import { readdirSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type Migration, oldestProgram } from '../../../src/ledger/migrations.ts';
import { migratePostgres } from '../../../src/ledger/postgres/store.ts';
import { type Databases, letBatchesWait } from './databases.ts';

export type StoreKind = 'postgres' | 'sqlite';

/** The last schema before the baseline, which has the same number. */
export const LAST_OLD = 14;

/** From this version on, a database records its oldest programs. */
const FIRST_WITH_OLDEST = 6;

/** The master secret of the rows. */
export const FIXTURE_SECRET: string = '5a'.repeat(32);

function fixture(kind: StoreKind, file: string): URL {
  return new URL(`../../ledger/fixtures/${kind}/${file}`, import.meta.url);
}

/** The keys of the rows' transparency log, as `PHM_LOG_KEY` has them. */
export function fixtureLogKey(kind: StoreKind): string {
  return readFileSync(fixture(kind, 'log-key.txt'), 'utf8');
}

/** Returns the migrations before the baseline up to a version, oldest first. */
export function oldMigrations(kind: StoreKind, version: number = LAST_OLD): Migration[] {
  return readdirSync(fixture(kind, ''))
    .filter((file) => /^\d{4}-/.test(file) && Number(file.slice(0, 4)) <= version)
    .sort()
    .map((file) => ({
      version: Number(file.slice(0, 4)),
      sql: readFileSync(fixture(kind, file), 'utf8'),
    }));
}

/**
 * Returns the statements that bring a database from a version to a later one, by default an empty one. Some versions of
 * SQLite changed nothing.
 */
function statements(kind: StoreKind, version: number, from = 0): string {
  const migrations = oldMigrations(kind, version);
  const oldest = version < FIRST_WITH_OLDEST ? null : oldestProgram(migrations);
  const parts = migrations.filter((one) => one.version > from).map(({ sql }) => sql);
  if (kind === 'sqlite') {
    parts.push(`PRAGMA user_version = ${version};`);
    if (oldest === null) return parts.join('\n');
    parts.push(
      `DELETE FROM schema_version; INSERT INTO schema_version VALUES (${version}, ${oldest});`,
    );
    return parts.join('\n');
  }
  if (from === 0) parts.unshift(VERSION_TABLE);
  parts.push(`UPDATE schema_version SET version = ${version};`);
  if (oldest !== null) parts.push(`UPDATE schema_version SET oldest_program = ${oldest};`);
  return parts.join('\n');
}

const VERSION_TABLE =
  'CREATE TABLE schema_version (version integer PRIMARY KEY); INSERT INTO schema_version VALUES (0);';

/** Brings an SQLite database from a version to a later one, by default a new one, and adds `rows`, statements of SQL. */
export function makeOldSqlite(
  path: string,
  version: number = LAST_OLD,
  { from = 0, rows = '' }: { from?: number; rows?: string } = {},
): void {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; BEGIN');
  database.exec(`${statements('sqlite', version, from)}\n${rows}`);
  database.exec('COMMIT');
  database.close();
}

/** Brings a PostgreSQL database from a version to a later one, by default a new, empty one. */
export async function makeOldPostgres(
  postgres: Databases,
  database: string,
  version: number = LAST_OLD,
  from = 0,
): Promise<void> {
  await postgres.query(database, statements('postgres', version, from));
}

/** Returns the rows of a used ledger of the last old version, as statements of SQL. */
export function oldRows(kind: StoreKind): string {
  return readFileSync(fixture(kind, 'rows.sql'), 'utf8');
}

/** Creates a ledger as `Databases.createLedger` does, by the migrations before the baseline, and returns its address. */
export async function createOldLedger(postgres: Databases, name: string): Promise<string> {
  const url = await postgres.createDatabase(name);
  await makeOldPostgres(postgres, name);
  await migratePostgres(url);
  if (postgres.waitsForLocks) await letBatchesWait(postgres, name);
  return url;
}

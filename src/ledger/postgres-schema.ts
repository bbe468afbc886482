/** Holds a PostgreSQL server to what the ledger needs, and brings its schema up to date. */
import type pg from 'pg';
import { SetupError } from '../errors.ts';
import { type Migration, readMigrations } from './migrations.ts';

/** PostgreSQL 15. */
const OLDEST_SERVER = 150_000;

/** Names the lock under which schemas are changed: "phm led" in ASCII. */
const MIGRATION_LOCK = 31_640_015_296_292_196n;

/**
 * Applies the missing migrations in one transaction; servers that start at once take turns.
 * Throws `SetupError` when the schema is newer than this program.
 */
export async function migrate(client: pg.ClientBase): Promise<void> {
  const migrations = readMigrations('postgres');
  const newest = migrations.at(-1)?.version ?? 0;
  if ((await schemaVersion(client)) === newest) return;
  await client.query('BEGIN');
  try {
    await client.query("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'");
    await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await apply(client, migrations, newest);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function apply(
  client: pg.ClientBase,
  migrations: readonly Migration[],
  newest: number,
): Promise<void> {
  const current = await schemaVersion(client);
  if (current > newest) {
    throw new SetupError(
      `the database has schema version ${current}, newer than this program's ${newest}; ` +
        'start the newer release instead',
    );
  }
  if (current === newest) return;
  await client.query('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)');
  for (const migration of migrations) {
    if (migration.version > current) await client.query(migration.sql);
  }
  await client.query('DELETE FROM schema_version');
  await client.query('INSERT INTO schema_version (version) VALUES ($1)', [newest]);
}

async function schemaVersion(client: pg.ClientBase): Promise<number> {
  // Not to_regclass, which within one transaction goes on missing a table that another one has made.
  const table = await client.query(
    `SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_version'`,
  );
  if (table.rowCount === 0) return 0;
  const found = await client.query('SELECT max(version) AS version FROM schema_version');
  return Number(found.rows[0]?.version ?? 0);
}

/** Throws `SetupError` when the server is too old. */
export async function requireServer(client: pg.ClientBase): Promise<void> {
  const found = await client.query(
    "SELECT current_setting('server_version_num')::integer AS number, version() AS name",
  );
  const { number, name } = found.rows[0];
  if (number >= OLDEST_SERVER) return;
  throw new SetupError(`the ledger needs PostgreSQL 15 or newer, and this is ${name}`);
}

/** True when the server may lose what it has committed: it runs without `fsync`. */
export async function losesCommits(client: pg.ClientBase): Promise<boolean> {
  const found = await client.query("SELECT current_setting('fsync') AS fsync");
  return found.rows[0]?.fsync !== 'on';
}

/** Holds a PostgreSQL server to what the ledger needs, and brings its schema up to date. */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { SetupError } from '../errors.ts';
import { type Migration, newestVersion, type SchemaChange } from './migrations.ts';
import { isConflict, isLockTimeout } from './postgres-connection.ts';

/** PostgreSQL 15. */
const OLDEST_SERVER = 150_000;

/** Names the lock under which schemas are changed: "phm led" in ASCII. */
const MIGRATION_LOCK = 31_640_015_296_292_196n;

/**
 * How long one attempt at a migration waits for a lock. Whoever waits for a table has everybody else wait
 * behind him: so it is short, and tried again after a pause in which the others go on.
 */
const LOCK_TIMEOUT_MS = 1_000;
const PAUSE_MS = 2_000;
const MAX_ATTEMPTS = 100;

/**
 * Applies the missing migrations, each in a transaction of its own; programs that do it at once take
 * turns. Throws `SetupError` when the schema is newer than these migrations, or a lock is not to be had.
 */
export async function migrate(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<SchemaChange> {
  const newest = newestVersion(migrations);
  let version = await schemaVersion(client);
  let from: number | undefined;
  while (version !== newest) {
    refuseNewer(version, newest);
    const step = await applyNext(client, migrations);
    from ??= step.from;
    version = step.to;
  }
  return { from: from ?? newest, to: newest };
}

/** Throws `SetupError` when the schema is not the one of these migrations. */
export async function requireSchema(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<void> {
  const newest = newestVersion(migrations);
  const version = await schemaVersion(client);
  refuseNewer(version, newest);
  if (version === newest) return;
  const found = version === 0 ? 'has no ledger yet' : `has schema version ${version}`;
  throw new SetupError(
    `the database ${found}, and this program needs version ${newest}. Start the server ` +
      'with PHM_MIGRATE=auto, or run: phm migrate',
  );
}

function refuseNewer(version: number, newest: number): void {
  if (version <= newest) return;
  throw new SetupError(
    `the database has schema version ${version}, newer than this program's ${newest}; ` +
      'start the newer release instead',
  );
}

/** Applies the first missing migration, with as many attempts as its locks take. */
async function applyNext(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<SchemaChange> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptNext(client, migrations);
    } catch (error) {
      // Two tables that others take in another order: a deadlock, where the server looks for one that soon.
      if (!isLockTimeout(error) && !isConflict(error)) throw error;
      if (attempt === MAX_ATTEMPTS) {
        throw new SetupError(
          'the schema was not changed: other transactions held its tables all the time; end long ones ' +
            '(a backup, an open session), then try again',
        );
      }
      await delay(PAUSE_MS);
    }
  }
}

async function attemptNext(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<SchemaChange> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const from = await schemaVersion(client);
    const next = migrations.find(({ version }) => version > from);
    if (next) {
      await client.query('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)');
      await client.query(next.sql);
      await client.query('DELETE FROM schema_version');
      await client.query('INSERT INTO schema_version (version) VALUES ($1)', [next.version]);
    }
    await client.query('COMMIT');
    return { from, to: next?.version ?? from };
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
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

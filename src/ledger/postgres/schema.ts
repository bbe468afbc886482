/** Checks that a PostgreSQL server meets the ledger's needs, and migrates its schema. */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { SetupError } from '../../errors.ts';
import {
  isNewerSchema,
  type Migration,
  missingMigrations,
  newestVersion,
  oldestProgram,
  refuseBeforeBaseline,
  type SchemaChange,
  type SchemaState,
} from '../migrations.ts';
import { confirmed } from './confirmation.ts';
import { isConflict, isLockTimeout } from './connection.ts';
import { foundLedger, refuseHiddenLedger } from './session-ledger.ts';

/** PostgreSQL 15. */
const OLDEST_SERVER = 150_000;

/** The advisory lock for migrations: "phm led" in ASCII. */
const MIGRATION_LOCK = 31_640_015_296_292_196n;

/**
 * Lock timeout of one attempt at a migration. It is short, because every commit queues behind a waiting
 * table lock. The next attempt follows after a pause in which commits continue.
 */
const LOCK_TIMEOUT_MS = 1_000;
const PAUSE_MS = 2_000;
const MAX_ATTEMPTS = 100;

/** The database's name in messages. Its address may hold a password. */
const SUBJECT = 'the database';

/**
 * Applies the missing migrations, each in its own transaction and one program at a time. Leaves a newer
 * schema unchanged if this program can work with it. Throws `SetupError` if it cannot, if the schema
 * is older than the baseline, if a lock is not available, or if another schema holds a ledger.
 */
export async function migrate(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<SchemaChange> {
  const program = newestVersion(migrations);
  refuseHiddenLedger(await foundLedger(client));
  let from: number | undefined;
  for (;;) {
    const schema = await readSchema(client);
    const { version } = schema;
    if (version === program || isNewerSchema(SUBJECT, schema, program)) {
      return { from: from ?? version, to: version, program };
    }
    const step = await applyNext(client, migrations);
    from ??= step.from;
  }
}

/**
 * Throws `SetupError` unless these migrations, or newer ones that this program can work with, have created the
 * schema. Returns the version of such a newer schema.
 */
export async function requireSchema(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<number | null> {
  const newest = newestVersion(migrations);
  refuseHiddenLedger(await foundLedger(client));
  const schema = await readSchema(client);
  const { version } = schema;
  if (isNewerSchema(SUBJECT, schema, newest)) return version;
  refuseBeforeBaseline(SUBJECT, version, migrations);
  if (version === newest) return null;
  const found = version === 0 ? 'has no ledger yet' : `has schema version ${version}`;
  throw new SetupError(
    `the database ${found}, and this program needs version ${newest}. Start the server ` +
      'with PHM_MIGRATE=auto, or run: phm migrate',
    { mayPass: true },
  );
}

/** The schema version before and after one attempt. */
type Step = Pick<SchemaChange, 'from' | 'to'>;

/** Applies the first missing migration, with as many attempts as its locks need. */
async function applyNext(client: pg.ClientBase, migrations: readonly Migration[]): Promise<Step> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptNext(client, migrations);
    } catch (error) {
      // If another session takes two tables in another order, a server with a short deadlock timeout
      // reports a deadlock.
      if (!isLockTimeout(error) && !isConflict(error)) throw error;
      if (attempt === MAX_ATTEMPTS) {
        throw new SetupError(
          'the schema was not changed: other transactions held its tables throughout; end long ones ' +
            '(a backup, an open session), then try again',
        );
      }
      await delay(PAUSE_MS);
    }
  }
}

async function attemptNext(client: pg.ClientBase, migrations: readonly Migration[]): Promise<Step> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const { version: from } = await readSchema(client);
    const [next] = missingMigrations(SUBJECT, from, migrations);
    if (next) await apply(client, next);
    await confirmed(client, () => client.query('COMMIT'));
    return { from, to: next?.version ?? from };
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function apply(client: pg.ClientBase, migration: Migration): Promise<void> {
  const { version, sql } = migration;
  await client.query(sql);
  const values = [version, oldestProgram([migration])];
  // What the ledger holds may need newer programs than its schema does, and a transaction beside this one may just bring it: whichever
  // of the two comes second waits for the other's row, and keeps the higher number.
  const { rowCount } = await client.query(
    'UPDATE schema_version SET version = $1, oldest_program = greatest(oldest_program, $2)',
    values,
  );
  if (rowCount !== 0) return;
  await client.query(
    'INSERT INTO schema_version (version, oldest_program) VALUES ($1, $2)',
    values,
  );
}

/** Returns the schema that a connection sees. */
export async function readSchema(client: pg.ClientBase): Promise<SchemaState> {
  // to_regclass would not do: within a transaction it keeps missing a table that another one has created.
  const table = await client.query(
    `SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_version'`,
  );
  if (table.rowCount === 0) return { version: 0, oldestProgram: null };
  // Read as JSON, because schemas up to the fifth lack the column.
  const found = await client.query(
    `SELECT version, (to_jsonb(schema_version) ->> 'oldest_program')::integer AS "oldestProgram"
     FROM schema_version ORDER BY version DESC LIMIT 1`,
  );
  return found.rows[0] ?? { version: 0, oldestProgram: null };
}

/** Throws `SetupError` if the server is too old. */
export async function requireServer(client: pg.ClientBase): Promise<void> {
  const found = await client.query(
    "SELECT current_setting('server_version_num')::integer AS number, version() AS name",
  );
  const { number, name } = found.rows[0];
  if (number >= OLDEST_SERVER) return;
  throw new SetupError(`the ledger needs PostgreSQL 15 or newer, and this is ${name}`);
}

/** The warning if `losesCommits`. */
export const FSYNC_WARNING =
  'the PostgreSQL server runs with fsync off: a crash of its machine loses keys that were answered';

/** Returns true if the server may lose committed transactions because it runs without `fsync`. */
export async function losesCommits(client: pg.ClientBase): Promise<boolean> {
  const found = await client.query("SELECT current_setting('fsync') AS fsync");
  return found.rows[0]?.fsync !== 'on';
}

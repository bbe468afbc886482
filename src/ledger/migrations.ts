/** Reads the numbered changes of a schema. `migrations/README.md` holds the rules for adding one. */
import { readdirSync, readFileSync } from 'node:fs';
import { SetupError } from '../errors.ts';

export interface Migration {
  readonly version: number;
  readonly sql: string;
}

/** The schema version before and after a migration. Both are equal if there was nothing to do. */
export interface SchemaChange {
  readonly from: number;
  readonly to: number;
  /**
   * The newest version that this program knows. It is below `to` if a newer release has migrated the
   * schema.
   */
  readonly program: number;
}

/** What a database records about its schema. */
export interface SchemaState {
  /** 0 without a schema. */
  readonly version: number;
  /**
   * The version of the oldest programs that can work with the schema; null if the database does not record
   * it.
   */
  readonly oldestProgram: number | null;
}

/** From this version on, migrations name their oldest programs, and programs read that. */
const FIRST_WITH_OLDEST_PROGRAM = 6;

const OLDEST_PROGRAM = /^-- oldest-program: ([1-9]\d*)\n/;

/**
 * Records that the ledger holds a sealed key or an account with `sealed_only`, in the transaction that brings it.
 * Programs before version 10 do not know these, and refuse to open the ledger from then on.
 */
export const REQUIRE_SEALING_PROGRAM: string = requirement(10);

/** Returns the statement that makes programs before a version refuse the ledger, because of what it holds from now on. */
export function requirement(version: number): string {
  return `UPDATE schema_version SET oldest_program = ${version} WHERE oldest_program < ${version}`;
}

/** Returns the version after all migrations of a list. */
export function newestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/**
 * Returns the version of the oldest programs that can work with the schema after the migration `version`:
 * the highest that any migration up to it names. A migration that names none needs its own version. Null
 * for schemas that do not record it.
 */
export function oldestProgram(migrations: readonly Migration[], version: number): number | null {
  if (version < FIRST_WITH_OLDEST_PROGRAM) return null;
  const applied = migrations.filter((one) => one.version <= version);
  return Math.max(
    ...applied.map((one) => Number(OLDEST_PROGRAM.exec(one.sql)?.[1] ?? one.version)),
  );
}

/**
 * Returns true if a newer release has migrated the schema and programs of version `newest` can work with
 * it. Throws `SetupError` if they cannot. `subject` names the database in the message.
 */
export function isNewerSchema(subject: string, schema: SchemaState, newest: number): boolean {
  const { version, oldestProgram } = schema;
  if (version <= newest) return false;
  if (oldestProgram !== null && oldestProgram <= newest) return true;
  const needs = oldestProgram === null ? '' : `, and needs programs of version ${oldestProgram}`;
  throw new SetupError(
    `${subject} has schema version ${version}, newer than this program's ${newest}${needs}; ` +
      'start the newer release instead',
  );
}

/**
 * Throws `SetupError` if a newer release has migrated the schema, even if this program can work with it. An
 * export would leave out tables and columns that this program does not know.
 */
export function refuseNewerExport({ version }: SchemaState, newest: number): void {
  if (version <= newest) return;
  throw new SetupError(
    `the database has schema version ${version}, newer than this program's ${newest}: an export by this program could ` +
      'leave out what the newer release has recorded; export with the newer release',
  );
}

/** Returns the warning for a server that works with a newer schema. */
export function newerSchemaWarning(version: number, migrations: readonly Migration[]): string {
  return (
    `a newer release has brought the schema to version ${version}; this program knows ` +
    `${newestVersion(migrations)} and works with it`
  );
}

/** Reads the migrations of one kind of store, oldest first. */
export function readMigrations(store: 'postgres' | 'sqlite'): Migration[] {
  const folder = new URL(`./migrations/${store}/`, import.meta.url);
  return readdirSync(folder)
    .filter((file) => /^\d{4}-.+\.sql$/.test(file))
    .sort()
    .map((file) => ({
      version: Number(file.slice(0, 4)),
      sql: readFileSync(new URL(file, folder), 'utf8'),
    }));
}

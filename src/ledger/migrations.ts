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
   * The version of the oldest programs that can work with the schema; null without a schema, and if the database does not
   * record it.
   */
  readonly oldestProgram: number | null;
}

/**
 * The tag of the last commit whose migrations lead from version 1 to the baseline, the first migration here, which creates
 * the whole schema.
 */
const TAG_BEFORE_BASELINE = 'before-baseline';

const OLDEST_PROGRAM = /^-- oldest-program: ([1-9]\d*)\n/;

/** Returns the statement that makes programs before a version refuse the ledger, because of what it holds from now on. */
export function requirement(version: number): string {
  return `UPDATE schema_version SET oldest_program = ${version} WHERE oldest_program < ${version}`;
}

/** Returns the version after all migrations of a list. */
export function newestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/** Returns the version of the first migration, which creates the whole schema. */
export function baselineVersion(migrations: readonly Migration[]): number {
  return migrations[0]?.version ?? 0;
}

/** Returns true if no migration leads from the version to the baseline. */
export function isBeforeBaseline(version: number, baseline: number): boolean {
  return version > 0 && version < baseline;
}

/** Throws `SetupError` if the schema is older than the baseline. `subject` names the database in the message. */
export function refuseBeforeBaseline(
  subject: string,
  version: number,
  migrations: readonly Migration[],
): void {
  const baseline = baselineVersion(migrations);
  if (!isBeforeBaseline(version, baseline)) return;
  throw new SetupError(
    `${subject} has schema version ${version}, and the migrations of this program begin at ${baseline}. ${toBaseline(baseline)}`,
  );
}

/** Returns what an operator does about a schema before the baseline. */
export function toBaseline(baseline: number): string {
  return (
    `Make a backup, and bring it to version ${baseline} with the checkout of the tag ${TAG_BEFORE_BASELINE}: ` +
    `docs/ledger.md, "Schemas before version ${baseline}"`
  );
}

/**
 * Returns the migrations that a schema lacks, oldest first. Throws `SetupError` before the baseline, which must never run
 * on a schema of its forerunners.
 */
export function missingMigrations(
  subject: string,
  version: number,
  migrations: readonly Migration[],
): readonly Migration[] {
  refuseBeforeBaseline(subject, version, migrations);
  return migrations.filter((one) => one.version > version);
}

/**
 * Returns the version of the oldest programs that can work with a schema after these migrations: the highest that any of
 * them names. A migration that names none needs its own version. The caller asks for the migrations that it applies, and
 * keeps a higher number that the ledger records: a ledger that never ran the baseline does not need the programs of it.
 */
export function oldestProgram(migrations: readonly Migration[]): number {
  return Math.max(
    0,
    ...migrations.map((one) => Number(OLDEST_PROGRAM.exec(one.sql)?.[1] ?? one.version)),
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

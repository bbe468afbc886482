/**
 * Keeps work from a SQLite ledger whose rows can be missing or wrong, because somebody has added a trigger or a view: SQLite
 * drops and changes rows for them without an error.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { newestVersion, readMigrations } from '../migrations.ts';
import { DisturbedError } from '../postgres/disturbed-error.ts';

const OTHERS = `SELECT type, name, tbl_name AS "table" FROM sqlite_schema
  WHERE type IN ('trigger', 'view') ORDER BY type, name`;

export class SchemaGuard {
  readonly #database: DatabaseSync;
  readonly #version: StatementSync;
  readonly #own: ReadonlySet<string>;
  readonly #newest: number;
  /** SQLite's own number of the schema at the last look. It changes with each change of the schema. */
  #seen: unknown = null;

  constructor(database: DatabaseSync) {
    const migrations = readMigrations('sqlite');
    this.#database = database;
    this.#version = database.prepare('PRAGMA schema_version');
    this.#newest = newestVersion(migrations);
    this.#own = new Set(
      migrations.flatMap(({ sql }) =>
        [...sql.matchAll(/^CREATE TRIGGER (\w+)/gm)].map(([, name]) => name as string),
      ),
    );
  }

  /** Throws `DisturbedError`. Costs a microsecond or two while the schema stays as it is. */
  require(): void {
    const version = this.#version.get()?.schema_version;
    if (version === this.#seen) return;
    const problems = this.problems();
    if (problems.length > 0) throw new DisturbedError(problems);
    this.#seen = version;
  }

  /** Returns what can hide, drop or change rows. A newer release may have added triggers of its own. */
  problems(): string[] {
    const { user_version: schema } = this.#database.prepare('PRAGMA user_version').get() ?? {};
    if (Number(schema) > this.#newest) return [];
    return this.#database
      .prepare(OTHERS)
      .all()
      .filter(({ name }) => !this.#own.has(String(name)))
      .map(({ type, name, table }) =>
        type === 'view'
          ? `the view ${name} is not the ledger's own`
          : `${table} has the trigger ${name}, which can drop and change rows`,
      );
  }
}

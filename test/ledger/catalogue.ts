/** What a database holds apart from the rows of its users, in words that two databases can be compared by. */
import { DatabaseSync } from 'node:sqlite';
import type { Databases } from '../support/ledgers/databases.ts';

/** Lines by part, sorted: two catalogues are equal if the schemas are. */
type Catalogue = Record<string, string[]>;

/** Objects of the ledger's schema, by name: no line holds the number of an object. */
const OF_SCHEMA = "relnamespace = 'public'::regnamespace";

const POSTGRES: Readonly<Record<string, string>> = {
  tables: `SELECT relname, relkind, relpersistence, reloptions, relacl, relowner::regrole, relreplident, relrowsecurity,
      relforcerowsecurity, pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid),
      (SELECT array_agg(inhparent::regclass) FROM pg_inherits WHERE inhrelid = pg_class.oid)
    FROM pg_class WHERE ${OF_SCHEMA} AND relkind NOT IN ('i', 'I')`,
  columns: `SELECT relname, attnum, attname, format_type(atttypid, atttypmod), attnotnull, attstorage, attcompression,
      attcollation::regcollation, attidentity, attgenerated, attstattarget, attacl, attoptions, attislocal, attinhcount,
      pg_get_expr(adbin, adrelid)
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE ${OF_SCHEMA} AND relkind NOT IN ('i', 'I') AND attnum > 0 AND NOT attisdropped`,
  constraints: `SELECT conrelid::regclass, conname, contype, convalidated, condeferrable, condeferred, conislocal,
      coninhcount, connoinherit, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace`,
  indexes: `SELECT relname, reloptions, indisunique, indisprimary, indisvalid, indisready, indisreplident, indnullsnotdistinct,
      pg_get_indexdef(indexrelid),
      (SELECT array_agg(inhparent::regclass) FROM pg_inherits WHERE inhrelid = indexrelid)
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE ${OF_SCHEMA}`,
  triggers: `SELECT tgrelid::regclass, tgenabled, CASE WHEN tgisinternal THEN tgfoid::regproc::text ELSE pg_get_triggerdef(pg_trigger.oid) END
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE ${OF_SCHEMA}`,
  rules: `SELECT pg_get_ruledef(pg_rewrite.oid) FROM pg_rewrite JOIN pg_class ON pg_class.oid = ev_class WHERE ${OF_SCHEMA}`,
  policies: `SELECT polname, polrelid::regclass FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid WHERE ${OF_SCHEMA}`,
  statistics: "SELECT stxname FROM pg_statistic_ext WHERE stxnamespace = 'public'::regnamespace",
  types: `SELECT typname, typtype, typacl FROM pg_type WHERE typnamespace = 'public'::regnamespace`,
  functions: `SELECT proname, proacl, proowner::regrole, proconfig, pg_get_functiondef(oid)
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  schemas: `SELECT nspname, nspacl FROM pg_namespace WHERE nspname !~ '^pg_(toast|temp)'`,
  slots: 'SELECT * FROM idempotency_slots',
};

/** Reads the catalogue of a ledger in PostgreSQL. `without` are functions to leave out. */
export async function readPostgres(
  postgres: Databases,
  database: string,
  without: readonly string[] = [],
): Promise<Catalogue> {
  const parts = Object.entries(POSTGRES).map(async ([part, sql]): Promise<[string, string[]]> => {
    const rows = await postgres.query(database, sql);
    const kept = rows.filter(({ proname }) => !without.includes(String(proname)));
    return [part, kept.map((row) => JSON.stringify(row)).sort()];
  });
  return Object.fromEntries(await Promise.all(parts));
}

/** Reads the catalogue of a ledger in SQLite, and the rows that its migrations wrote. */
export function readSqlite(path: string): Catalogue {
  const database = new DatabaseSync(path, { readOnly: true });
  const lines = (sql: string, ...values: string[]): string[] =>
    database
      .prepare(sql)
      .all(...values)
      .map((row) => JSON.stringify(row))
      .sort();
  try {
    const named = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    const tables = database.prepare(named).all() as { name: string; sql: string | null }[];
    const perTable = (sql: string) =>
      tables.flatMap(({ name }) => lines(sql, name).map((line) => `${name}: ${line}`));
    return {
      tables: lines(
        "SELECT name, type, ncol, wr, strict FROM pragma_table_list WHERE schema = 'main'",
      ),
      columns: perTable('SELECT * FROM pragma_table_xinfo(?)'),
      definitions: tables.flatMap(({ name, sql }) =>
        definitions(sql ?? '').map((line) => `${name}: ${line}`),
      ),
      keys: perTable('SELECT * FROM pragma_foreign_key_list(?)'),
      indexes: perTable(
        'SELECT list.*, info.* FROM pragma_index_list(?) AS list, pragma_index_xinfo(list.name) AS info',
      ),
      others: lines("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE type <> 'table'"),
      rows: tables
        .filter(({ name }) => name !== 'schema_version')
        .flatMap(({ name }) => lines(`SELECT * FROM ${name}`).map((line) => `${name}: ${line}`)),
    };
  } finally {
    database.close();
  }
}

/** Returns the parts of a table's definition without their order: SQLite puts an added column behind the constraints. */
function definitions(sql: string): string[] {
  const text = sql.replace(/--.*/g, '').replace(/\s+/g, ' ');
  const [start, end] = [text.indexOf('('), text.lastIndexOf(')')];
  const parts: string[] = [''];
  let depth = 0;
  for (const character of text.slice(start + 1, end)) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return [...parts.map((part) => part.trim()).sort(), `end: ${text.slice(end)}`];
}

/** Finds the rights on the ledger's schema, tables and functions that the service's role lacks. */
import type pg from 'pg';
import type { DatabaseFault } from '../inspection.ts';
import type { Migration } from '../migrations.ts';
import { tableNames } from './disturbances.ts';

/** Objects named in one fault. */
const MAX_NAMED = 5;

const VERSION_TABLE = 'schema_version';

/** The rights on data are those on the named tables: a partition's data is reached through its parent. */
const TABLES = `
  SELECT relname AS name, pg_has_role(relowner, 'USAGE') AS "isOwner",
    ARRAY(SELECT "right" FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS "right"
      WHERE relname = ANY($1) AND NOT has_table_privilege(oid, "right")) AS lacks
  FROM pg_class
  WHERE relkind IN ('r', 'p') AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
    AND (relname = ANY($1) OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass('ledger')))
  ORDER BY relname`;

const OTHERS = `
  SELECT quote_ident(current_user) AS role, quote_ident(current_schema()) AS schema,
    coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreate",
    EXISTS (SELECT FROM pg_proc WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
      AND proname = ANY($1) AND NOT has_function_privilege(oid, 'EXECUTE')) AS "mayNotCall",
    ARRAY(SELECT proname::text FROM pg_proc
      WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
        AND proname = ANY($1) AND NOT pg_has_role(proowner, 'USAGE') ORDER BY proname) AS "foreignFunctions"`;

interface Table {
  readonly name: string;
  readonly isOwner: boolean;
  readonly lacks: readonly string[];
}

interface Others {
  readonly role: string;
  /** Null if the role may use no schema of its search path. */
  readonly schema: string | null;
  readonly mayCreate: boolean;
  readonly mayNotCall: boolean;
  readonly foreignFunctions: readonly string[];
}

interface Privileges {
  readonly faults: readonly DatabaseFault[];
  /** False if this role may not read the version of the schema. */
  readonly maySeeVersion: boolean;
}

/** Returns what is missing of the rights that the migrations' tables and functions need. A superuser lacks none. */
export async function readPrivileges(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<Privileges> {
  const functions = migrations.flatMap(({ sql }) =>
    [...sql.matchAll(/^CREATE (?:OR REPLACE )?FUNCTION (\w+)/gm)].map(([, name]) => name),
  );
  const tables = (await client.query(TABLES, [tableNames(migrations)])).rows as Table[];
  const others = (await client.query(OTHERS, [functions])).rows[0] as Others;
  const version = tables.find(({ name }) => name === VERSION_TABLE);
  return {
    faults: [
      ...missingRights(tables, others),
      ...missingOwner(tables, others),
      ...missingFunctions(others),
      ...missing(others),
    ],
    maySeeVersion: !version?.lacks.includes('SELECT'),
  };
}

function missingRights(tables: readonly Table[], { role }: Others): DatabaseFault[] {
  const lacks = tables.flatMap((table) =>
    table.lacks.map((right) => ({ right, name: table.name })),
  );
  const rights = [...new Set(lacks.map(({ right }) => right))];
  return rights.map((right) => {
    const names = lacks.filter((one) => one.right === right).map(({ name }) => name);
    return {
      isGrave: true,
      problem: `the role ${role} may not ${right} ${listOf(names)}`,
      remedy: `run as the owner or a superuser: GRANT ${right} ON ${names.join(', ')} TO ${role}`,
    };
  });
}

/** Only the owner can add a month's table, empty one and remove one. */
function missingOwner(tables: readonly Table[], { role }: Others): DatabaseFault[] {
  const foreign = tables.filter(({ isOwner }) => !isOwner).map(({ name }) => name);
  if (foreign.length === 0) return [];
  return [
    {
      isGrave: true,
      problem: `the role ${role} does not own ${listOf(foreign)}: it can make and remove no tables of months`,
      remedy: `run for each of them, as a superuser: ALTER TABLE ${foreign[0]} OWNER TO ${role}`,
    },
  ];
}

/** The ledger works without them until a migration replaces one. */
function missingFunctions({ role, foreignFunctions }: Others): DatabaseFault[] {
  if (foreignFunctions.length === 0) return [];
  return [
    {
      isGrave: false,
      problem: `the role ${role} does not own the functions ${listOf(foreignFunctions)}: it cannot migrate the ledger when a release replaces one`,
      remedy: `run for each of them, as a superuser: ALTER ROUTINE ${foreignFunctions[0]} OWNER TO ${role}`,
    },
  ];
}

function missing({ role, schema, mayCreate, mayNotCall }: Others): DatabaseFault[] {
  if (schema === null) {
    const problem = `the role ${role} may use no schema of its search_path`;
    return [
      {
        isGrave: true,
        problem,
        remedy: `run as a superuser: GRANT ALL ON SCHEMA public TO ${role}`,
      },
    ];
  }
  return [
    ...(mayCreate
      ? []
      : [
          {
            isGrave: true,
            problem: `the role ${role} may create no tables in the schema ${schema}, which the ledger gets each month`,
            remedy: `run as a superuser: GRANT CREATE ON SCHEMA ${schema} TO ${role}`,
          },
        ]),
    ...(mayNotCall
      ? [
          {
            isGrave: true,
            problem: `the role ${role} may not call all functions of the ledger`,
            remedy: `run as a superuser: GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${role}`,
          },
        ]
      : []),
  ];
}

function listOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return names.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

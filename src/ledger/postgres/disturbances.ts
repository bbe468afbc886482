/**
 * Finds what makes a PostgreSQL database hide, drop or change rows of the ledger without an error: row-level security,
 * triggers, rules and views that are not the ledger's own, tables that inherit, partitions that are detached, tables that do
 * not survive a crash, and foreign keys that are switched off. The ledger has none of these.
 */
import type pg from 'pg';
import type { AppError } from '../../errors.ts';
import type { DatabaseFault } from '../inspection.ts';
import { type Migration, readMigrations } from '../migrations.ts';
import { unavailable } from '../unavailable.ts';
import { DisturbedError, DroppedError } from './disturbed-error.ts';

/** Time after which the ledger's tables are looked at again. */
const LOOK_EVERY_MS = 2_000;

/** Names of disturbed tables in one message. */
const MAX_NAMED = 3;

/** Something that makes the database hide, drop or change rows of a table. `name` is the trigger's, for example. */
interface Disturbance {
  readonly table: string;
  readonly kind: keyof typeof WORDS;
  readonly name: string;
}

/** For each kind: what is wrong with the tables, and what the operator does. Also the order of the faults. */
const WORDS = {
  replica_role: {
    problem: (_: string, name: string) =>
      `session_replication_role is ${name}: foreign keys are not enforced`,
    remedy: 'run as a superuser: ALTER ROLE and ALTER DATABASE … RESET session_replication_role',
  },
  kind: {
    problem: (table: string, name: string) =>
      `${table} is a ${name} and not the table of the ledger`,
    remedy: 'put the table back, and keep views of it in another schema',
  },
  unlogged: {
    problem: (table: string) => `${table} is unlogged: a crash of the database server empties it`,
    remedy: 'run: ALTER TABLE … SET LOGGED',
  },
  row_security: {
    problem: (table: string) => `row-level security hides rows of ${table}`,
    remedy:
      'run as their owner: ALTER TABLE … NO FORCE ROW LEVEL SECURITY; ALTER TABLE … DISABLE ROW LEVEL SECURITY',
  },
  trigger: {
    problem: (table: string, name: string) =>
      `${table} has the trigger ${name}, which can drop and change rows`,
    remedy: 'remove the trigger; to follow changes, use logical replication',
  },
  disabled_trigger: {
    problem: (table: string) => `triggers of foreign keys of ${table} are disabled`,
    remedy: 'run as a superuser: ALTER TABLE … ENABLE TRIGGER ALL',
  },
  rule: {
    problem: (table: string, name: string) =>
      `${table} has the rule ${name}, which can drop and change rows`,
    remedy: 'run as its owner: DROP RULE',
  },
  child: {
    problem: (table: string, name: string) =>
      `the table ${name} inherits from ${table} and adds rows to it`,
    remedy: 'run as its owner: ALTER TABLE … NO INHERIT, or DETACH PARTITION',
  },
  detached: {
    problem: (table: string) => `${table} is detached, so its rows are hidden`,
    remedy:
      'run as its owner: ALTER TABLE … ATTACH PARTITION; if its rows are not needed, rename it or move it to another schema',
  },
} as const;

/**
 * Selects the disturbances of the tables `$1`, and of the parts of those that are partitioned. `relhastriggers` and the
 * like spare look-ups in other catalogs. Triggers that fire only on a replica do nothing here.
 */
const DISTURBANCES = `WITH named AS MATERIALIZED (
    SELECT oid, relname, relkind, relpersistence, relrowsecurity, relhastriggers, relhasrules, relhassubclass
    FROM pg_class WHERE relname = ANY ($1::text[])
      AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
      AND relkind NOT IN ('i', 'I', 'S', 't', 'c')
  ), part AS MATERIALIZED (
    SELECT part.oid, part.relname, part.relkind, part.relpersistence, part.relrowsecurity, part.relhastriggers,
      part.relhasrules, part.relhassubclass, named.relname AS parent, named.relkind AS parent_kind
    FROM named JOIN pg_inherits ON inhparent = named.oid JOIN pg_class AS part ON part.oid = inhrelid
    WHERE named.relhassubclass
  ), found AS MATERIALIZED (
    SELECT * FROM named UNION
    SELECT oid, relname, relkind, relpersistence, relrowsecurity, relhastriggers, relhasrules, relhassubclass FROM part
  ), disturbance (relation, kind, name) AS (
    SELECT '', 'replica_role', current_setting('session_replication_role')
    WHERE current_setting('session_replication_role') = 'replica'
    UNION ALL SELECT relname, 'kind', CASE relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view'
      WHEN 'f' THEN 'foreign table' ELSE 'relation of kind ' || relkind::text END
    FROM found WHERE relkind NOT IN ('r', 'p')
    UNION ALL SELECT relname, 'unlogged', '' FROM found WHERE relkind IN ('r', 'p') AND relpersistence <> 'p'
    UNION ALL SELECT relname, 'row_security', '' FROM found WHERE relrowsecurity AND row_security_active(oid)
    UNION ALL SELECT relname, CASE WHEN tgisinternal THEN 'disabled_trigger' ELSE 'trigger' END,
      CASE WHEN tgisinternal THEN '' ELSE tgname END
    FROM found JOIN pg_trigger ON tgrelid = found.oid
    WHERE relhastriggers AND (tgisinternal AND tgenabled NOT IN ('O', 'A') OR NOT tgisinternal AND tgenabled IN ('O', 'A'))
    UNION ALL SELECT relname, 'rule', rulename FROM found JOIN pg_rewrite ON ev_class = found.oid
    WHERE relhasrules AND relkind IN ('r', 'p') AND ev_enabled <> 'D'
    UNION ALL SELECT parent, 'child', relname FROM part
    WHERE parent_kind <> 'p' OR relname !~ '^(ledger_[0-9]{6}|idempotency_[0-2])$'
    UNION ALL SELECT relname, 'detached', '' FROM pg_class
    WHERE relname ~ '^(ledger_[0-9]{6}|idempotency_[0-2])$' AND relkind = 'r' AND NOT relispartition
      AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
  )
  SELECT DISTINCT relation AS "table", kind, name FROM disturbance ORDER BY 2, 1, 3`;

/** Returns the failure of an insert that neither wrote its row nor met another one. */
export function droppedRow(table: string): AppError {
  return unavailable(new DroppedError(`the database dropped rows of the table ${table}`));
}

/** Returns the names of the tables that the migrations create. */
export function tableNames(migrations: readonly Migration[]): string[] {
  return migrations.flatMap(({ sql }) =>
    [...sql.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name]) => name as string),
  );
}

/** Returns a fault for each kind of disturbance that a session meets. */
export async function findDisturbances(
  client: pg.ClientBase,
  tables: readonly string[],
): Promise<DatabaseFault[]> {
  const { rows } = await client.query({
    name: 'phm_disturbances',
    text: DISTURBANCES,
    values: [tables],
  });
  const found = Map.groupBy(rows as Disturbance[], ({ kind }) => kind);
  return (Object.keys(WORDS) as Disturbance['kind'][]).flatMap((kind) => {
    const all = found.get(kind) ?? [];
    if (all.length === 0) return [];
    const { problem, remedy } = WORDS[kind];
    const named = all.slice(0, MAX_NAMED).map(({ table, name }) => problem(table, name));
    const more = all.length - named.length;
    const others = more > 0 ? [`and ${more} more`] : [];
    return [{ isGrave: true, problem: [...named, ...others].join(', '), remedy }];
  });
}

/** Keeps sessions from work on a disturbed ledger. Looks at the tables in each new session, and every two seconds. */
export class DisturbanceGuard {
  readonly #tables: readonly string[] = tableNames(readMigrations('postgres'));
  readonly #seen = new WeakSet<pg.ClientBase>();
  #lookedMs = Number.NEGATIVE_INFINITY;

  /** Rejects with `DisturbedError`, or with the failure of the look. */
  async require(client: pg.ClientBase): Promise<void> {
    const nowMs = performance.now();
    if (this.#seen.has(client) && nowMs - this.#lookedMs < LOOK_EVERY_MS) return;
    const faults = await findDisturbances(client, this.#tables);
    if (faults.length > 0) {
      // The next statement looks again.
      this.#lookedMs = Number.NEGATIVE_INFINITY;
      throw new DisturbedError(faults.map(({ problem }) => problem));
    }
    this.#seen.add(client);
    this.#lookedMs = nowMs;
  }
}

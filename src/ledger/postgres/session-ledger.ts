/**
 * Pins each session to the schema that holds the ledger, and reads which ledger it is.
 *
 * `search_path` is a default of the role, the database and the server. With the usual `"$user", public`, a schema with the
 * role's name hides the ledger's tables. So a session finds the schema once, and names it alone from then on, before
 * temporary tables.
 */
import pg from 'pg';
import { SetupError } from '../../errors.ts';
import { ForeignLedgerError, type LedgerIdentity, requireSameLedger } from '../identity.ts';
import type { DatabaseFault } from '../inspection.ts';

/** What a session found. */
interface SessionLedger extends Omit<LedgerIdentity, 'schema'> {
  /** The schema that the session is pinned to; null if its role may use none of its search path. */
  readonly schema: string | null;
  /** The schemas of the search path that exist and that this role may use. */
  readonly path: readonly string[];
  /** All schemas with a ledger that this role may use. */
  readonly holders: readonly string[];
}

/** Tables that every version of the ledger's schema has. */
const TABLES = "('schema_version', 'ledger', 'secret_checks')";

/** Notes the search path of a session and leaves it: until the schema is set, all names are those of PostgreSQL itself. */
export const LEAVE_PATH = `
  SELECT pg_catalog.set_config('phm.path', pg_catalog.array_to_json(pg_catalog.current_schemas(false))::pg_catalog.text, false);
  SET search_path = pg_catalog, pg_temp;`;

/**
 * Returns the statement that pins a session to the schema `known`; null before the first session of a process: then to the
 * first schema of the search path that holds a ledger, or to the first one. `NOTE_CLUSTER` must have run.
 */
export function pinLedger(known: string | null): string {
  const pinned = known === null ? 'NULL' : pg.escapeLiteral(known);
  return `DO $phm$ DECLARE
    path jsonb := (SELECT coalesce(jsonb_agg(name ORDER BY place), '[]')
      FROM jsonb_array_elements_text(current_setting('phm.path')::jsonb) WITH ORDINALITY AS own (name, place)
      WHERE name !~ '^pg_');
    holders jsonb := (SELECT coalesce(jsonb_agg(nspname ORDER BY nspname), '[]') FROM pg_namespace AS one
      WHERE nspname !~ '^pg_' AND has_schema_privilege(one.oid, 'USAGE') AND 3 = (SELECT count(*) FROM pg_class
        WHERE relnamespace = one.oid AND relname IN ${TABLES} AND relkind IN ('r', 'p', 'v', 'm', 'f')));
    pinned text := coalesce(${pinned}, (SELECT name
      FROM jsonb_array_elements_text(path) WITH ORDINALITY AS own (name, place)
      WHERE holders ? name ORDER BY place LIMIT 1), path ->> 0);
    secrets jsonb;
  BEGIN
    IF holders ? pinned THEN
      BEGIN
        EXECUTE format('SELECT coalesce(jsonb_object_agg(version, concat_ws(''/'', encode(check_value, ''hex''),
          registered_ms)), ''{}'') FROM %I.secret_checks', pinned) INTO secrets;
      EXCEPTION WHEN insufficient_privilege OR undefined_column THEN NULL;
      END;
    END IF;
    PERFORM set_config('phm.ledger', jsonb_build_object('schema', pinned, 'path', path, 'holders', holders,
      'secrets', secrets, 'place', concat_ws('/', current_setting('phm.cluster'),
        (SELECT oid FROM pg_database WHERE datname = current_database()),
        coalesce((SELECT pg_class.oid FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
          WHERE nspname = pinned AND relname = 'ledger'), 0)))::text, false);
    PERFORM set_config('search_path', concat_ws(', ', quote_ident(pinned), 'pg_temp'), false);
  END $phm$`;
}

/** Reads what `pinLedger` found, and which process of the server read it. */
export const FOUND_LEDGER = `SELECT pg_catalog.current_setting('phm.ledger')::json AS ledger,
  pg_catalog.pg_backend_pid() AS backend`;

/** The row of `FOUND_LEDGER`. */
export interface FoundLedger {
  readonly ledger: SessionLedger;
  readonly backend: number;
}

/** Asks a session again which ledger it leads to. `known` is as in `admitLedger`. */
export async function readLedger(
  client: pg.ClientBase,
  known: LedgerIdentity | null,
): Promise<FoundLedger> {
  const results = await client.query(`${pinLedger(known?.schema ?? null)};${FOUND_LEDGER}`);
  return (results as unknown as pg.QueryResult[]).at(-1)?.rows[0] as FoundLedger;
}

/** Two schemas of the search path hold a ledger, and only the operator knows which is the right one. */
class AmbiguousLedgerError extends SetupError {}

/**
 * Returns the ledger that this process works with from now on. Throws `ForeignLedgerError` if a session leads to another
 * one than before, and `AmbiguousLedgerError` if a first session has a choice.
 */
export function admitLedger(
  known: LedgerIdentity | null,
  found: SessionLedger,
): LedgerIdentity | null {
  const { schema, path, holders, place, secrets } = found;
  const holds = schema !== null && holders.includes(schema);
  if (known !== null) {
    if (!holds) throw new ForeignLedgerError(`the schema ${known.schema} holds no ledger`);
    requireSameLedger(known, found);
    // Other servers register further versions.
    return { ...known, secrets: secrets ?? known.secrets };
  }
  const choice = path.filter((name) => holders.includes(name));
  if (choice.length > 1) throw new AmbiguousLedgerError(ambiguity(choice));
  return holds ? { schema, place, secrets } : null;
}

function ambiguity(choice: readonly string[]): string {
  return (
    `the schemas ${choice.join(' and ')} of the search path hold a ledger each, and only one is the right one. Find out ` +
    `which holds your accounts and keys, and run as the user of the address: ALTER ROLE CURRENT_USER SET search_path = ${choice.at(-1)}, ` +
    'with the name of the right one'
  );
}

/** Returns what the session found when it was pinned. */
export async function foundLedger(client: pg.ClientBase): Promise<SessionLedger> {
  return (await client.query(FOUND_LEDGER)).rows[0].ledger;
}

/**
 * Throws `SetupError` if this session has no ledger, but another schema that its role may use has one. A new ledger would
 * be empty, and servers would take it for theirs.
 */
export function refuseHiddenLedger(found: SessionLedger): void {
  const fault = hiddenLedger(found);
  if (fault !== null) throw new SetupError(`${fault.problem}. ${fault.remedy}`);
}

/** Returns the fault that the ledger is in a schema beside the search path; null if not. */
export function hiddenLedger({ schema, holders }: SessionLedger): DatabaseFault | null {
  const [name] = holders;
  if (name === undefined || (schema !== null && holders.includes(schema))) return null;
  return {
    isGrave: true,
    problem: `the schema ${schema ?? 'of the search path'} holds no ledger, but ${holders.join(' and ')} does, which is not in the search path`,
    remedy: `To use it, run as the user of the address: ALTER ROLE CURRENT_USER SET search_path = ${name}. A new ledger needs a database of its own`,
  };
}

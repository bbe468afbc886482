/** Inspects a PostgreSQL server and its ledger by reading system views. */
import type { DatabaseFault, Inspection } from '../inspection.ts';
import { baselineVersion, newestVersion, readMigrations } from '../migrations.ts';
import { PostgresConnection } from './connection.ts';
import { findDisturbances, tableNames } from './disturbances.ts';
import { readPrivileges } from './privileges.ts';
import { findReplacedPrimaries } from './replaced-primaries.ts';
import { FSYNC_WARNING, readSchema, requireServer } from './schema.ts';
import type { TimelineMemory } from './seen-timeline.ts';
import { foundLedger, hiddenLedger } from './session-ledger.ts';
import type { Limits } from './site.ts';

const LIMITS: Limits = { lockMs: 1_000, statementMs: 3_000, answerMs: 4_000 };

/** `isLocal`: the same machine, or a Unix socket. `synchronousCommit` is the default; sessions of servers set their own. */
const FACTS = `
  SELECT current_setting('server_version') AS version,
    pg_is_in_recovery() AS "isStandby",
    current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    current_setting('fsync') = 'on' AS fsync,
    current_setting('full_page_writes') = 'on' AS "fullPageWrites",
    (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS "synchronousCommit",
    current_setting('synchronous_standby_names') <> '' AS "isReplicated",
    coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS "isEncrypted",
    coalesce(inet_server_addr() = inet_client_addr(), true) AS "isLocal",
    coalesce((SELECT rolsuper FROM pg_roles WHERE rolname = current_user), false) AS "isSuperuser"`;

interface Facts {
  readonly version: string;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  readonly synchronousCommit: string;
  readonly isReplicated: boolean;
  readonly isEncrypted: boolean;
  readonly isLocal: boolean;
  readonly isSuperuser: boolean;
}

/** Throws `SetupError` if the database cannot be reached. */
export async function inspectPostgres(url: string, memory: TimelineMemory): Promise<Inspection> {
  let inspection: Inspection | undefined;
  const opening = PostgresConnection.open(
    url,
    async (client) => {
      await requireServer(client);
      const migrations = readMigrations('postgres');
      const facts: Facts = (await client.query(FACTS)).rows[0];
      const privileges = await readPrivileges(client, migrations);
      const hidden = hiddenLedger(await foundLedger(client));
      const disturbances = await findDisturbances(client, tableNames(migrations));
      inspection = {
        about: describe(facts),
        faults: [
          ...faultsOf(facts),
          ...privileges.faults,
          ...disturbances,
          ...(hidden ? [hidden] : []),
        ],
        schema:
          privileges.maySeeVersion && disturbances.length === 0 ? await readSchema(client) : null,
        program: newestVersion(migrations),
        baseline: baselineVersion(migrations),
      };
    },
    LIMITS,
    memory,
  );
  const [connection, replaced] = await Promise.all([opening, findReplacedPrimaries(url)]);
  const { host } = connection;
  await connection.close();
  const { about, faults, ...rest } = inspection as Inspection;
  return { ...rest, about: `${host} in use, ${about}`, faults: [...faults, ...replaced] };
}

function describe(facts: Facts): string {
  const role = facts.isStandby ? 'standby' : 'primary';
  const line = facts.isEncrypted ? 'with TLS' : facts.isLocal ? 'on this machine' : 'without TLS';
  const standbys = facts.isReplicated ? 'synchronous standbys' : 'no synchronous standbys';
  const durability = `fsync ${word(facts.fsync)}, full_page_writes ${word(facts.fullPageWrites)}`;
  return `PostgreSQL ${facts.version}, ${role}, ${line}, ${durability}, synchronous_commit ${facts.synchronousCommit}, ${standbys}`;
}

function word(isOn: boolean): string {
  return isOn ? 'on' : 'off';
}

/** Each row: the condition, whether it is grave, the problem and the remedy. */
const FAULTS: readonly (readonly [(facts: Facts) => boolean, boolean, string, string])[] = [
  [
    ({ isStandby }) => isStandby,
    true,
    'this server is a standby, and only a primary can record keys',
    'name the primary in PHM_DATABASE_URL, or promote this server if the primary is lost',
  ],
  [
    ({ isStandby, isReadOnly }) => isReadOnly && !isStandby,
    true,
    'transactions are read-only by default, so no key can be recorded',
    'set default_transaction_read_only to off for this server, database and role',
  ],
  [({ fsync }) => !fsync, true, FSYNC_WARNING, 'turn fsync on'],
  [
    ({ fullPageWrites }) => !fullPageWrites,
    true,
    'the PostgreSQL server runs with full_page_writes off: a crash of its machine may damage the ledger',
    'turn full_page_writes on, unless the file system writes whole pages',
  ],
  [
    ({ isEncrypted, isLocal }) => !isEncrypted && !isLocal,
    false,
    'the connection to another machine is not encrypted',
    'add sslmode=verify-full to the address, or keep the network between them private',
  ],
  [
    ({ isSuperuser }) => isSuperuser,
    false,
    'the user of the address is a superuser, who can do more on the database server than the service needs',
    'give the service a role of its own: deploy/postgres/roles.sql',
  ],
];

function faultsOf(facts: Facts): DatabaseFault[] {
  return FAULTS.filter(([applies]) => applies(facts)).map(([, isGrave, problem, remedy]) => ({
    isGrave,
    problem,
    remedy,
  }));
}

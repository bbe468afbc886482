/** What `bench/scale.ts` loads: servers on SQLite and on PostgreSQL, of this checkout and of another one. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findInstalled, PASSWORD, Postgres } from '../test/support/ledgers/postgres.ts';
import { parentOf } from './cpu.ts';
import {
  addAccount,
  type Environment,
  PROGRAM,
  phm,
  programOf,
  serverEnvironment,
  startBare,
  startServer,
  type Target,
  verify,
} from './load.ts';

export const GROUPS = ['bare', 'sqlite', 'postgres', 'servers'] as const;
export type Group = (typeof GROUPS)[number];

const REPLICAS = 3;

/** The test cluster admits 60 connections, and each server takes four. */
const PGBENCH_CLIENTS = 32;

/** A row as wide as the ledger's, with its two indexes. */
const PGBENCH_TABLE = `
  CREATE TABLE pgbench_row (key_id uuid PRIMARY KEY, fingerprint bigint NOT NULL,
    commitment bytea NOT NULL, account_id text NOT NULL, api_key_id text NOT NULL,
    created_ms bigint NOT NULL, latency_us bigint NOT NULL);
  CREATE INDEX ON pgbench_row (fingerprint, commitment)`;
const PGBENCH_INSERT = `
INSERT INTO pgbench_row VALUES (gen_random_uuid(), (random() * 9e18)::bigint,
  sha256(random()::text::bytea), 'acct_0123456789abcdef', 'key_0123456789abcdef', 1795260850201, 1234);
`;

/** Servers that share the load. */
export interface Case {
  readonly name: string;
  readonly group: Group;
  readonly targets: readonly Target[];
  /** Process that has started those of the database, if it is PostgreSQL. */
  readonly postmasterPid: number | null;
  /** Name of the same case of this checkout, if this one is of the other checkout. */
  readonly comparedWith: string | null;
}

/** A PostgreSQL server with a database per checkout. */
export class Database {
  readonly cluster: Postgres;
  readonly postmasterPid: number;

  private constructor(cluster: Postgres, postmasterPid: number) {
    this.cluster = cluster;
    this.postmasterPid = postmasterPid;
  }

  static async start(): Promise<Database> {
    const cluster = await Postgres.start();
    // It stays open while its parent is looked up.
    const client = await cluster.connect('postgres');
    try {
      const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
      return new Database(cluster, parentOf(Number(rows[0]?.pid)));
    } finally {
      await client.end();
    }
  }

  /** Returns the transactions per second of `pgbench`, or null if it is not installed. */
  async pgbench(seconds: number, folder: string): Promise<number | null> {
    const bin = findInstalled(['pgbench']);
    if (bin === null) return null;
    await this.cluster.query('postgres', `DROP TABLE IF EXISTS pgbench_row; ${PGBENCH_TABLE}`);
    const script = join(folder, 'insert.sql');
    writeFileSync(script, PGBENCH_INSERT);
    const { hostname, port, username } = new URL(this.cluster.url('postgres'));
    const counts = ['-c', PGBENCH_CLIENTS, '-j', 2, '-T', seconds].map(String);
    const where = ['-h', hostname, '-p', port, '-U', username, 'postgres'];
    const text = execFileSync(
      join(bin, 'pgbench'),
      ['-n', '-M', 'prepared', '-f', script, ...counts, ...where],
      {
        env: { PATH: process.env.PATH ?? '', PGPASSWORD: PASSWORD },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    return Number(/^tps = ([\d.]+)/m.exec(text)?.[1]);
  }
}

/** Starts the cases of these groups; those of the folder `against` are started too if it is not null. */
export async function startCases(
  folder: string,
  groups: readonly Group[],
  against: string | null,
  database: Database | null,
): Promise<Case[]> {
  const programs = against === null ? [PROGRAM] : [PROGRAM, programOf(against)];
  const cases: Case[] = [];
  for (const [i, program] of programs.entries()) {
    const isOther = i > 0;
    const named = (name: string) => ({
      name: isOther ? `${name}, other` : name,
      comparedWith: isOther ? name : null,
    });
    if (groups.includes('sqlite')) {
      const targets = [await startSqlite(join(folder, `sqlite-${i}`), program)];
      cases.push({ ...named('SQLite'), group: 'sqlite', targets, postmasterPid: null });
    }
    if (database) {
      const count = !isOther && groups.includes('servers') ? REPLICAS : 1;
      const own = join(folder, `postgres-${i}`);
      const { servers, accounts } = await startReplicas(own, database, program, count);
      const { postmasterPid } = database;
      const one = { ...named('PostgreSQL'), targets: servers.slice(0, 1), postmasterPid };
      if (groups.includes('postgres')) cases.push({ ...one, group: 'postgres' });
      if (count > 1) cases.push(...sharedCases(servers, accounts, postmasterPid));
    }
  }
  for (const { targets } of cases) await verify(targets[0]);
  return groups.includes('bare') ? [await startBareCase(cases[0], folder), ...cases] : cases;
}

async function startBareCase({ targets }: Case, folder: string): Promise<Case> {
  const bare = await startBare(targets[0], join(folder, 'bare.log'));
  const apart = { postmasterPid: null, comparedWith: null };
  return { name: 'bare route', group: 'bare', targets: [bare], ...apart };
}

async function startSqlite(folder: string, program: string): Promise<Target> {
  const env = serverEnvironment(folder);
  const headers = addAccount(env, program);
  return startServer(env, headers, `${folder}.log`, { program, isWatched: true });
}

/** Starts servers on one PostgreSQL, and returns the headers of as many accounts. */
async function startReplicas(
  folder: string,
  { cluster }: Database,
  program: string,
  count: number,
): Promise<{ servers: Target[]; accounts: Target['headers'][] }> {
  const env: Environment = serverEnvironment(folder, {
    PHM_DATABASE_URL: await cluster.createDatabase(`bench_${folder.slice(-1)}`),
    PHM_MASTER_KEY_FILE: join(folder, 'master.key'),
  });
  phm(env, ['secret', 'new'], program);
  phm(env, ['migrate'], program);
  phm(env, ['log', 'init'], program);
  const accounts = Array.from({ length: count }, () => addAccount(env, program));
  const servers: Target[] = [];
  for (let i = 0; i < count; i++) {
    const log = `${folder}-${i}.log`;
    servers.push(await startServer(env, accounts[0], log, { program, isWatched: true }));
  }
  return { servers, accounts };
}

/** Returns the cases of several servers that share one database. */
function sharedCases(
  servers: readonly Target[],
  accounts: readonly Target['headers'][],
  postmasterPid: number,
): Case[] {
  const shared = { group: 'servers', postmasterPid, comparedWith: null } as const;
  const apart = servers.map((server, i) => ({ ...server, headers: accounts[i] }));
  return [
    { ...shared, name: 'PostgreSQL, 2 servers', targets: servers.slice(0, 2) },
    { ...shared, name: 'PostgreSQL, 3 servers', targets: servers },
    { ...shared, name: '3 servers, 3 accounts', targets: apart },
  ];
}

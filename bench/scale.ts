/**
 * Measures keys per second with a durable row: SQLite, and PostgreSQL with one, two and three servers, compared
 * with the bare Fastify route and with `pgbench` (one insert per transaction) on the same database server. It then
 * measures latency at half of the rate, alone and together with keys with evidence.
 *
 *   node bench/scale.ts [--seconds N] [--connections N] [--rounds N] [--data-dir D] [--save]
 *
 * All cases and the load generator share the cores of one machine and take turns, round after round. Answers are
 * checked before timing. The report gives the processor time per request by thread, which says more on a busy
 * machine than rates do. Linux only.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { findInstalled, PASSWORD, Postgres } from '../test/support/postgres.ts';
import { familyTime, parentOf, threadTimes } from './cpu.ts';
import {
  addAccount,
  drive,
  drivePaced,
  type Environment,
  NOISE_LIMIT,
  PLAIN,
  percentile,
  phm,
  type Round,
  serverEnvironment,
  spread,
  startBare,
  startServer,
  stopAll,
  type Target,
  usage,
  verify,
  WITH_EVIDENCE,
} from './load.ts';
import { diskSync, machine, median } from './results.ts';
import { type Finding, type LoadOptions, readLoadOptions, runBenchmark } from './run.ts';

const PATH = '/api/v2/generate';
const DATABASE = 'bench';
const REPLICAS = 3;
const WARM_UP_SECONDS = 2;

/** The test cluster admits 60 connections; three servers take four each. */
const PGBENCH_CLIENTS = 32;

/** Connections that request keys with evidence besides plain keys: enough to keep a suite worker busy. */
const EVIDENCE_CONNECTIONS = 4;

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
interface Case {
  readonly name: string;
  readonly targets: readonly Target[];
  /** The database that works for them, if it is PostgreSQL. */
  readonly database?: Database;
}

interface Database {
  readonly cluster: Postgres;
  readonly postmasterPid: number;
}

/** A round with its cost: microseconds of processor time per request, by thread. */
interface CostedRound extends Round {
  readonly costUs: ReadonlyMap<string, number>;
}

/** Latencies of a case at half of its rate, as a line. */
interface Half {
  readonly line: string;
  readonly problems: readonly string[];
}

async function openDatabase(): Promise<Database> {
  const cluster = await Postgres.start();
  await cluster.createDatabase(DATABASE);
  await cluster.query(DATABASE, PGBENCH_TABLE);
  // It stays open while its parent is looked up.
  const client = await cluster.connect(DATABASE);
  try {
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    return { cluster, postmasterPid: parentOf(Number(rows[0]?.pid)) };
  } finally {
    await client.end();
  }
}

/** Starts servers on one PostgreSQL, and returns the headers of as many accounts. */
async function startReplicas(
  folder: string,
  { cluster }: Database,
): Promise<{ servers: Target[]; accounts: Target['headers'][] }> {
  const secret = join(folder, 'master.key');
  const env: Environment = serverEnvironment(folder, {
    PHM_DATABASE_URL: cluster.url(DATABASE),
    PHM_MASTER_KEY_FILE: secret,
    PHM_WORKERS: '1',
  });
  phm(env, 'secret', 'new');
  phm(env, 'migrate');
  const accounts = Array.from({ length: REPLICAS }, () => addAccount(env));
  const servers: Target[] = [];
  for (let i = 0; i < REPLICAS; i++) {
    servers.push(await startServer(env, accounts[0], join(folder, `replica-${i}.log`)));
  }
  return { servers, accounts };
}

/** Loads all servers of a case at once, each with its share of the connections. */
async function driveAll(one: Case, connections: number, seconds: number): Promise<CostedRound> {
  const share = one.targets.length;
  const load = { path: PATH, body: PLAIN, connections: Math.ceil(connections / share) };
  const before = costs(one);
  const rounds = await Promise.all(one.targets.map((target) => drive(target, load, seconds)));
  const after = costs(one);
  const answers = rounds.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0);
  return {
    perSecond: rounds.reduce((sum, round) => sum + round.perSecond, 0),
    latenciesMs: Float64Array.from(rounds.flatMap((round) => [...round.latenciesMs])).sort(),
    problems: rounds.flatMap(({ problems }) => problems),
    costUs: new Map(
      [...after].map(([name, us]) => [name, (us - (before.get(name) ?? 0)) / answers]),
    ),
  };
}

/** Returns the processor time so far of everything that works for a case, and of the load generator. */
function costs({ targets, database }: Case): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { pid } of targets) {
    for (const [name, us] of threadTimes(pid)) {
      const column = COLUMNS_OF_THREADS.get(name) ?? 'other threads';
      sums.set(column, (sums.get(column) ?? 0) + us);
    }
  }
  if (database) sums.set('PostgreSQL', familyTime(database.postmasterPid));
  const { user, system } = process.cpuUsage();
  return sums.set('load generator', user + system);
}

const COLUMNS_OF_THREADS: ReadonlyMap<string, string> = new Map([
  ['node-MainThread', 'main'],
  ['phm-keys', 'keys'],
]);
const COST_COLUMNS = ['main', 'keys', 'other threads', 'PostgreSQL', 'load generator'];

/** Runs one round of a case and compares it with the servers' own counter. */
async function measure(one: Case, { connections, seconds }: LoadOptions): Promise<CostedRound> {
  const [first] = one.targets;
  if (one.name === BARE_NAME) return driveAll(one, connections, seconds);
  const counters = one.targets.filter(
    ({ headers }, i) => one.targets.findIndex((other) => other.headers === headers) === i,
  );
  const count = async () => {
    const counts = await Promise.all(counters.map((target) => usage(target)));
    return counts.reduce((sum, n) => sum + n, 0);
  };
  const before = await count();
  const round = await driveAll(one, connections, seconds);
  const counted = (await count()) - before;
  const answered = round.latenciesMs.length;
  // The server counts requests in progress at the end, and we do not.
  const agrees = counted >= answered && counted <= answered + connections + one.targets.length;
  const problem = `we count ${answered} answers, ${first.address} counts ${counted} requests`;
  return agrees ? round : { ...round, problems: [...round.problems, problem] };
}

/** Returns the transactions per second of `pgbench`, or undefined if it is not installed. */
function pgbench({ cluster }: Database, { seconds }: LoadOptions, folder: string) {
  const bin = findInstalled(['pgbench']);
  if (bin === null) return undefined;
  const script = join(folder, 'insert.sql');
  writeFileSync(script, PGBENCH_INSERT);
  const { hostname, port, username } = new URL(cluster.url(DATABASE));
  const counts = ['-c', PGBENCH_CLIENTS, '-j', 2, '-T', seconds].map(String);
  const where = ['-h', hostname, '-p', port, '-U', username, DATABASE];
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

const BARE_NAME = 'bare route';

const HEADING =
  'case                        keys/s  of bare   p50 ms   p99 ms  spread   CPU us a request: ' +
  COST_COLUMNS.join(', ');

function summarise(one: Case, rounds: readonly CostedRound[], bare: readonly Round[]): string {
  const rates = rounds.map(({ perSecond }) => perSecond);
  const ratio = median(rounds.map(({ perSecond }, i) => perSecond / bare[i].perSecond));
  const latency = (share: number) => median(rounds.map((round) => percentile(round, share)));
  const cost = COST_COLUMNS.map((column) => {
    const values = rounds.map(({ costUs }) => costUs.get(column));
    return values[0] === undefined ? '-' : median(values.map((us) => us ?? 0)).toFixed(0);
  });
  return [
    one.name.padEnd(24),
    median(rates).toFixed(0).padStart(9),
    ratio.toPrecision(2).padStart(8),
    latency(0.5).toFixed(2).padStart(8),
    latency(0.99).toFixed(2).padStart(8),
    `${(100 * spread(rates)).toFixed(0)} %`.padStart(7),
    `  ${cost.join(' / ')}`,
  ].join(' ');
}

/**
 * Measures latency at half of the rate, alone and together with keys with evidence, in turns with the bare route at
 * the same rate. The bare route shows the share of the machine and of the load generator.
 */
async function halfLoad(
  one: Case,
  bare: Target,
  rate: number,
  options: LoadOptions,
): Promise<Half> {
  const { connections, seconds, rounds } = options;
  const [target] = one.targets;
  const plain = { path: PATH, body: PLAIN, connections };
  const suites = { path: PATH, body: WITH_EVIDENCE, connections: EVIDENCE_CONNECTIONS };
  const idle: Round[] = [];
  const alone: Round[] = [];
  const beside: Round[] = [];
  const tested: Round[] = [];
  for (let i = 0; i < rounds; i++) {
    idle.push(await drivePaced(bare, plain, seconds, rate / 2));
    alone.push(await drivePaced(target, plain, seconds, rate / 2));
    const [first, second] = await Promise.all([
      drivePaced(target, plain, seconds, rate / 2),
      drive(target, suites, seconds),
    ]);
    beside.push(first);
    tested.push(second);
  }
  const at = (list: readonly Round[], share: number) =>
    median(list.map((round) => percentile(round, share)));
  const factor = median(
    beside.map((round, i) => percentile(round, 0.99) / percentile(alone[i], 0.99)),
  );
  const keys = median(tested.map(({ perSecond }) => perSecond));
  const line = [
    one.name.padEnd(24),
    median(alone.map(({ perSecond }) => perSecond))
      .toFixed(0)
      .padStart(9),
    at(idle, 0.5).toFixed(2).padStart(9),
    at(idle, 0.99).toFixed(2).padStart(9),
    at(alone, 0.5).toFixed(2).padStart(9),
    at(alone, 0.99).toFixed(2).padStart(9),
    keys.toFixed(0).padStart(12),
    at(beside, 0.5).toFixed(2).padStart(9),
    at(beside, 0.99).toFixed(2).padStart(9),
    factor.toPrecision(2).padStart(10),
  ].join(' ');
  const problems = [...idle, ...alone, ...beside, ...tested].flatMap((round) => round.problems);
  return { line, problems: problems.map((problem) => `${one.name}, half: ${problem}`) };
}

async function startCases(folder: string, database: Database): Promise<Case[]> {
  const embedded = serverEnvironment(join(folder, 'sqlite'), { PHM_WORKERS: '1' });
  const headers = addAccount(embedded);
  const sqlite = await startServer(embedded, headers, join(folder, 'sqlite.log'));
  const bare = await startBare(headers, join(folder, 'bare.log'));
  const { servers, accounts } = await startReplicas(folder, database);
  for (const server of [sqlite, servers[0]]) await verify(server, bare);
  const apart = servers.map((server, i) => ({ ...server, headers: accounts[i] }));
  return [
    { name: BARE_NAME, targets: [bare] },
    { name: 'SQLite', targets: [sqlite] },
    { name: 'PostgreSQL, 1 server', targets: servers.slice(0, 1), database },
    { name: 'PostgreSQL, 2 servers', targets: servers.slice(0, 2), database },
    { name: 'PostgreSQL, 3 servers', targets: servers, database },
    { name: '3 servers, 3 accounts', targets: apart, database },
  ];
}

async function run(options: LoadOptions, folder: string, database: Database) {
  const cases = await startCases(folder, database);
  const rounds = new Map<Case, CostedRound[]>(cases.map((one) => [one, []]));
  const transactions: number[] = [];
  for (const one of cases) await driveAll(one, options.connections, WARM_UP_SECONDS);
  for (let i = 0; i < options.rounds; i++) {
    for (const [one, done] of rounds) {
      done.push(await measure(one, options));
      process.stderr.write(`round ${i + 1}: ${one.name} ${done[i]?.perSecond.toFixed(0)}/s\n`);
    }
    const tps = pgbench(database, options, folder);
    if (tps !== undefined) transactions.push(tps);
  }
  const bare = rounds.get(cases[0]) ?? [];
  const table = [...rounds].map(([one, done]) => summarise(one, done, bare));
  const half: Half[] = [];
  for (const one of cases.slice(1, 3)) {
    const rate = median((rounds.get(one) ?? []).map(({ perSecond }) => perSecond));
    half.push(await halfLoad(one, cases[0].targets[0], rate, options));
  }
  return report(options, folder, { table, transactions, half, rounds });
}

function report(
  { seconds, connections, rounds: count }: LoadOptions,
  folder: string,
  found: {
    readonly table: readonly string[];
    readonly transactions: readonly number[];
    readonly half: readonly Half[];
    readonly rounds: ReadonlyMap<Case, readonly CostedRound[]>;
  },
): Finding {
  const problems = [
    ...[...found.rounds].flatMap(([{ name }, done]) =>
      done.flatMap((round) => round.problems.map((problem) => `${name}: ${problem}`)),
    ),
    ...found.half.flatMap((one) => one.problems),
  ];
  const noisy = [...found.rounds]
    .filter(([, done]) => spread(done.map(({ perSecond }) => perSecond)) > NOISE_LIMIT)
    .map(([{ name }]) => `${name}: the rounds differ by more than 10 %`);
  const tps =
    found.transactions.length > 0
      ? `${median(found.transactions).toFixed(0)} transactions/s`
      : 'not installed';
  const lines = [
    machine(),
    `${count} rounds of ${seconds} s in turns, ${connections} connections in all; plain keys of 256 bits, one suite worker a server`,
    `disk sync of 4 KiB beside the database: ${diskSync(folder)}`,
    `Load generator, servers and database share the ${availableParallelism()} cores.`,
    '',
    HEADING,
    ...found.table,
    `pgbench, one insert a transaction, ${PGBENCH_CLIENTS} clients: ${tps}`,
    '',
    'at half of that rate        keys/s  bare p50  bare p99    p50 ms    p99 ms  + validated    p50 ms    p99 ms  p99 factor',
    ...found.half.map(({ line }) => line),
    '',
    ...[...problems, ...noisy].map((warning) => `WARNING: ${warning}`),
    'Rates and latencies: medians of the rounds, 2xx only. of bare: median of the ratios round by round.',
    'Several servers of one account write to one counter; "3 accounts" has one for each server.',
  ];
  return { text: `${lines.join('\n')}\n`, sound: problems.length === 0 };
}

const options = readLoadOptions({ connections: '64', rounds: '3' });
await runBenchmark('scale', options, async (folder) => {
  const database = await openDatabase();
  try {
    return await run(options, folder, database);
  } finally {
    // End the servers before their database.
    await stopAll();
    await database.cluster.remove();
  }
});

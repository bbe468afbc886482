/**
 * Measures what the transparency log costs: keys per second without and with it, on SQLite and PostgreSQL, and the
 * latency of a key with its receipt.
 *
 *   node bench/receipts.ts [--seconds N] [--connections N] [--rounds N] [--data-dir D] [--save]
 *
 * On each store, a server with PHM_TRANSPARENCY_LOG=off and one with auto run side by side and take turns, in the order
 * off, auto, auto, off. After a round the bench waits until the log holds every key. Answers are checked before
 * timing. The report gives the processor time per key by thread, which says more on a busy machine than rates do.
 * Linux only.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Postgres } from '../test/support/ledgers/postgres.ts';
import { familyTime, parentOf, threadTimes } from './cpu.ts';
import { drive, generatorTime } from './drive.ts';
import {
  addAccount,
  check,
  type Environment,
  NOISE_LIMIT,
  PLAIN,
  percentile,
  phm,
  post,
  type Round,
  serverEnvironment,
  spread,
  startServer,
  type Target,
} from './load.ts';
import { diskSync, machine, median } from './results.ts';
import { type Finding, type LoadOptions, readLoadOptions, runBenchmark } from './run.ts';

const GENERATE = '/api/v2/generate';
const WITH_RECEIPT = JSON.stringify({ security_level: 256, include: ['receipt'] });

/** The least share of the rate without a log that the rate with a log may have. */
const LEAST_SHARE = 0.85;

const WARM_UP_SECONDS = 3;
const DRAIN_MS = 10_000;

/** Requests for a key with its receipt, at random times. */
const RECEIPTS = 40;
/** Longest pause before such a request: longer than the interval of heads. */
const PAUSE_MS = 1_500;

type Store = 'SQLite' | 'PostgreSQL';

interface Site {
  readonly store: Store;
  readonly hasLog: boolean;
  readonly target: Target;
  /** The postmaster of the site's database. */
  readonly postmasterPid: number | null;
}

/** A round with its cost: microseconds of processor time per key, by thread. */
interface CostedRound extends Round {
  readonly costUs: ReadonlyMap<string, number>;
  /** Milliseconds from the last answer until the log held every key; null without a log. */
  readonly drainMs: number | null;
}

const COLUMNS: ReadonlyMap<string, string> = new Map([
  ['node-MainThread', 'main'],
  ['phm-keys', 'keys'],
  ['phm-log', 'log'],
]);
const COST_COLUMNS = ['main', 'keys', 'log', 'other threads', 'PostgreSQL', 'load generator'];

async function startSite(
  store: Store,
  hasLog: boolean,
  folder: string,
  cluster: Postgres,
): Promise<Site> {
  const name = `${store.toLowerCase()}_${hasLog ? 'log' : 'off'}`;
  const own = join(folder, name);
  const isRemote = store === 'PostgreSQL';
  const remote = isRemote && {
    PHM_DATABASE_URL: await cluster.createDatabase(name),
    PHM_MASTER_KEY_FILE: join(own, 'master.key'),
  };
  const env: Environment = serverEnvironment(own, {
    PHM_WORKERS: '1',
    PHM_TRANSPARENCY_LOG: hasLog ? 'auto' : 'off',
    ...(remote || {}),
  });
  if (isRemote) {
    phm(env, ['secret', 'new']);
    phm(env, ['migrate']);
    if (hasLog) phm(env, ['log', 'init']);
  }
  const headers = addAccount(env);
  const target = await startServer(env, headers, join(folder, `${name}.log`));
  return {
    store,
    hasLog,
    target,
    postmasterPid: isRemote ? await postmasterOf(cluster, name) : null,
  };
}

async function postmasterOf(cluster: Postgres, database: string): Promise<number> {
  // It stays open while its parent is looked up.
  const client = await cluster.connect(database);
  try {
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    return parentOf(Number(rows[0]?.pid));
  } finally {
    await client.end();
  }
}

/** Checks the answers of a site: a key, and with a log its receipt. */
async function verify({ target, hasLog }: Site): Promise<void> {
  const { key } = await post(target, GENERATE, PLAIN);
  check(/^[0-9a-f]{64}$/.test(String(key)), 'a key has 64 hexadecimal digits');
  if (!hasLog) return;
  const { receipt, key_id, opening } = await post(target, GENERATE, WITH_RECEIPT);
  const { statement, proof } = receipt as { statement: { key_id: string }; proof: string };
  check(statement.key_id === key_id, 'the receipt is about the key');
  check(proof.startsWith('c2sp.org/tlog-proof@v1\n'), 'the receipt has a proof');
  check(Buffer.from(String(opening), 'base64').length === 32, 'the opening has 32 bytes');
}

/** Returns the processor time so far of everything that works for a site, and of the load generator. */
function costs({ target, postmasterPid }: Site): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [name, us] of threadTimes(target.pid)) {
    const column = COLUMNS.get(name) ?? 'other threads';
    sums.set(column, (sums.get(column) ?? 0) + us);
  }
  if (postmasterPid !== null) sums.set('PostgreSQL', familyTime(postmasterPid));
  return sums.set('load generator', generatorTime());
}

async function treeSize({ target }: Site): Promise<number> {
  const response = await fetch(`${target.address}/log/checkpoint`);
  return Number((await response.text()).split('\n')[1]);
}

/** Waits until the log holds so many more entries, and returns the milliseconds. Throws after ten seconds. */
async function drained(site: Site, size: number): Promise<number> {
  const began = performance.now();
  for (let ms = 0; ms < DRAIN_MS; ms = performance.now() - began) {
    if ((await treeSize(site)) >= size) return ms;
    await setTimeout(20);
  }
  throw new Error(`the log has not taken every key after ${DRAIN_MS} ms`);
}

async function measure(site: Site, { connections, seconds }: LoadOptions): Promise<CostedRound> {
  const sizeBefore = site.hasLog ? await treeSize(site) : 0;
  const before = costs(site);
  const round = await drive(site.target, { path: GENERATE, body: PLAIN, connections }, seconds);
  const answers = round.latenciesMs.length;
  const drainMs = site.hasLog ? await drained(site, sizeBefore + answers) : null;
  const costUs = new Map(
    [...costs(site)].map(([name, us]) => [name, (us - (before.get(name) ?? 0)) / answers]),
  );
  return { ...round, costUs, drainMs };
}

/** Requests keys at random times, one at a time, and returns their latencies in ascending order. */
async function latencies({ target }: Site, body: string): Promise<Round> {
  const found: number[] = [];
  for (let i = 0; i < RECEIPTS; i++) {
    await setTimeout(Math.random() * PAUSE_MS);
    const began = performance.now();
    const answer = await post(target, GENERATE, body);
    found.push(performance.now() - began);
    if (body === WITH_RECEIPT) check(answer.receipt !== null, 'the receipt came in time');
  }
  return { perSecond: 0, latenciesMs: Float64Array.from(found).sort(), problems: [] };
}

/** Returns the processor time of one key over all threads and processes: the median of the rounds, in microseconds. */
function totalCost(rounds: readonly CostedRound[]): number {
  return median(rounds.map(({ costUs }) => [...costUs.values()].reduce((sum, us) => sum + us, 0)));
}

function rowOf({ store, hasLog }: Site, rounds: readonly CostedRound[]): string {
  const rates = rounds.map(({ perSecond }) => perSecond);
  const latency = (share: number) => median(rounds.map((round) => percentile(round, share)));
  const drains = rounds.map(({ drainMs }) => drainMs ?? Number.NaN);
  const cost = COST_COLUMNS.map((column) => {
    const values = rounds.map(({ costUs }) => costUs.get(column));
    return values[0] === undefined ? '-' : median(values.map((us) => us ?? 0)).toFixed(0);
  });
  return [
    `${store}, ${hasLog ? 'auto' : 'off'}`.padEnd(20),
    median(rates).toFixed(0).padStart(7),
    latency(0.5).toFixed(2).padStart(8),
    latency(0.99).toFixed(2).padStart(8),
    `${(100 * spread(rates)).toFixed(0)} %`.padStart(7),
    (hasLog ? median(drains).toFixed(0) : '-').padStart(9),
    `  ${cost.join(' / ')}`,
  ].join(' ');
}

function latencyLine(name: string, round: Round): string {
  const at = (share: number) => percentile(round, share).toFixed(1).padStart(8);
  return `${name.padEnd(34)} ${[0.5, 0.9, 1].map(at).join(' ')}`;
}

/** Measures both sites of one store in turns. */
async function compare(store: Store, folder: string, cluster: Postgres, options: LoadOptions) {
  const [off, auto] = [
    await startSite(store, false, folder, cluster),
    await startSite(store, true, folder, cluster),
  ];
  const rounds = new Map<Site, CostedRound[]>([off, auto].map((site) => [site, []]));
  for (const site of [off, auto]) {
    await verify(site);
    await measure(site, { ...options, seconds: WARM_UP_SECONDS });
  }
  for (let i = 0; i < options.rounds; i++) {
    for (const site of i % 2 === 0 ? [off, auto] : [auto, off]) {
      const round = await measure(site, options);
      rounds.get(site)?.push(round);
      const rate = round.perSecond.toFixed(0);
      process.stderr.write(`round ${i + 1}: ${store}, ${site.hasLog ? 'auto' : 'off'} ${rate}/s\n`);
    }
  }
  const ratesOf = (site: Site) => (rounds.get(site) ?? []).map(({ perSecond }) => perSecond);
  const without = ratesOf(off);
  const shares = ratesOf(auto).map((rate, i) => rate / (without[i] ?? Number.NaN));
  return {
    store,
    rows: [...rounds].map(([site, done]) => rowOf(site, done)),
    share: median(shares),
    shares,
    costShare: totalCost(rounds.get(off) ?? []) / totalCost(rounds.get(auto) ?? []),
    latency: [
      latencyLine(`${store}, plain key`, await latencies(auto, PLAIN)),
      latencyLine(`${store}, key with its receipt`, await latencies(auto, WITH_RECEIPT)),
    ],
    problems: [...rounds.values()].flat().flatMap(({ problems }) => problems),
    spread: Math.max(spread(without), spread(ratesOf(auto))),
  };
}

async function run(options: LoadOptions, folder: string, cluster: Postgres): Promise<Finding> {
  const found = [];
  for (const store of ['SQLite', 'PostgreSQL'] as const) {
    found.push(await compare(store, folder, cluster, options));
  }
  const warnings = found.flatMap(({ store, share, spread: differ, problems }) => [
    ...problems.map((problem) => `${store}: ${problem}`),
    ...(share < LEAST_SHARE ? [`${store}: the share is below ${LEAST_SHARE}`] : []),
    ...(differ > NOISE_LIMIT
      ? [
          `${store}: the rounds differ by ${(100 * differ).toFixed(0)} %: do not trust these figures`,
        ]
      : []),
  ]);
  const lines = [
    machine(),
    `${options.rounds} rounds of ${options.seconds} s with ${options.connections} connections, in turns`,
    `disk sync of 4 KiB beside the database: ${diskSync(folder)}`,
    `The load generator and the database share the ${availableParallelism()} cores with the servers.`,
    '',
    `store, log            keys/s   p50 ms   p99 ms  spread  drain ms   CPU us a key: ${COST_COLUMNS.join(', ')}`,
    ...found.flatMap(({ rows }) => rows),
    '',
    ...found.map(
      ({ store, share, shares, costShare }) =>
        `${store}: rate with the log / without = ${share.toFixed(3)} (rounds: ${shares.map((one) => one.toFixed(2)).join(' ')}); processor time without / with = ${costShare.toFixed(3)}`,
    ),
    '',
    `${'one request at a time'.padEnd(34)}   p50 ms   p90 ms   max ms`,
    ...found.flatMap(({ latency }) => latency),
    ...warnings.map((warning) => `WARNING: ${warning}`),
    'keys/s: median of the rounds. Shares: median of the ratios round by round.',
    'drain: from the last answer until the log holds every key.',
  ];
  const sound = found.every(({ problems, share }) => problems.length === 0 && share >= LEAST_SHARE);
  return { text: `${lines.join('\n')}\n`, sound };
}

const options = readLoadOptions({ connections: '32', rounds: '6' });
const cluster = await Postgres.start();
try {
  await runBenchmark('receipts', options, (folder) => run(options, folder, cluster));
} finally {
  await cluster.remove();
}

/**
 * Measures plain keys with a durable row beside a request to another program that makes a key, on the same cores, in turns:
 *
 *   node bench/beside.ts --url http://127.0.0.1:9998/kmip/2_1 --body FILE --name TEXT
 *     [--database-url postgres://…] [--seconds N] [--connections N] [--rounds N] [--data-dir D] [--save]
 *
 * The database must be empty, and is left full. The other program runs already; FILE holds its request in JSON, as
 * `cosmian-kms.json` does for Cosmian KMS. Each round loads both with `--connections` and then with one. An answer other than
 * 2xx ends the benchmark. Linux only.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { drive } from './drive.ts';
import { migrateEmpty } from './ledger-fill.ts';
import {
  addAccount,
  check,
  type Environment,
  type Load,
  PLAIN,
  percentile,
  post,
  serverEnvironment,
  startServer,
  type Target,
  verify,
} from './load.ts';
import { diskSync, machine, median } from './results.ts';
import {
  type Finding,
  type LoadOptions,
  loadArguments,
  runBenchmark,
  toLoadOptions,
} from './run.ts';

interface Options extends LoadOptions {
  readonly url: URL;
  readonly body: string;
  readonly name: string;
  readonly databaseUrl: string | undefined;
}

interface Side {
  readonly target: Target;
  readonly load: Omit<Load, 'connections'>;
}

interface Figures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** Figures of this program and the other, with many connections and with one. */
interface Turn {
  readonly many: readonly [Figures, Figures];
  readonly one: readonly [Figures, Figures];
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      ...loadArguments({ connections: '64', rounds: '12' }),
      url: { type: 'string' },
      body: { type: 'string' },
      name: { type: 'string' },
      'database-url': { type: 'string' },
    },
  });
  const { body, name } = values;
  if (values.url === undefined || body === undefined || name === undefined) {
    throw new RangeError('give --url, --body and --name');
  }
  const url = new URL(values.url);
  if (url.protocol !== 'http:' || url.port === '') {
    throw new RangeError('--url takes an address with http: and a port');
  }
  return {
    ...toLoadOptions(values),
    url,
    body: readFileSync(body, 'utf8').trim(),
    name,
    databaseUrl: values['database-url'],
  };
}

async function measure({ target, load }: Side, connections: number, seconds: number) {
  const round = await drive(target, { ...load, connections }, seconds);
  if (round.problems.length > 0) throw new Error(round.problems.join('; '));
  const { perSecond } = round;
  return { perSecond, p50: percentile(round, 0.5), p99: percentile(round, 0.99) };
}

/** Measures both sides, the one that began the last round second. */
async function both(
  sides: readonly [Side, Side],
  connections: number,
  seconds: number,
  turn: number,
): Promise<readonly [Figures, Figures]> {
  const figures: Figures[] = [];
  for (const side of turn % 2 === 0 ? [0, 1] : [1, 0]) {
    figures[side] = await measure(sides[side], connections, seconds);
  }
  return [figures[0], figures[1]];
}

function linesOf(title: string, turns: readonly (readonly [Figures, Figures])[], other: string) {
  const row = (name: string, side: 0 | 1) => {
    const over = (figure: keyof Figures) => median(turns.map((turn) => turn[side][figure]));
    return `${name.padEnd(28)}${over('perSecond').toFixed(0).padStart(8)}${over('p50').toFixed(2).padStart(9)}${over('p99').toFixed(2).padStart(9)}`;
  };
  const ratio = (figure: keyof Figures) =>
    median(turns.map(([ours, theirs]) => ours[figure] / theirs[figure])).toFixed(2);
  const tail = median(turns.map(([{ p50, p99 }]) => p99 / p50)).toFixed(2);
  return [
    '',
    title.padEnd(28) + ['a second', 'p50 ms', 'p99 ms'].map((name) => name.padStart(9)).join(''),
    row('this program', 0),
    row(other, 1),
    `this / other: rate ${ratio('perSecond')}, p50 ${ratio('p50')}, p99 ${ratio('p99')}; p99 / p50 of this: ${tail}`,
  ];
}

/** Returns the settings of a new ledger in this database. Throws unless it is empty: another ledger gets no account. */
async function newLedger(databaseUrl: string | undefined): Promise<Environment> {
  if (databaseUrl === undefined) return {};
  await migrateEmpty(databaseUrl);
  return { PHM_DATABASE_URL: databaseUrl, PHM_MASTER_KEY: randomBytes(32).toString('hex') };
}

/** Throws unless two answers of the other program differ, as those with a key or its identifier do. */
async function requireNewKeys({ target, load: { path, body } }: Side): Promise<void> {
  const [one, other] = [await post(target, path, body), await post(target, path, body)];
  check(!isDeepStrictEqual(one, other), 'the other program makes a key for each request');
}

async function run(options: Options, folder: string): Promise<Finding> {
  const { url, body, name, databaseUrl, connections, seconds, rounds } = options;
  const env = serverEnvironment(join(folder, 'data'), await newLedger(databaseUrl));
  const server = await startServer(env, addAccount(env), join(folder, 'log'));
  await verify(server);
  const headers = { 'content-type': 'application/json' };
  const other = { address: url.origin, headers, pid: 0, watch: null };
  const sides: readonly [Side, Side] = [
    { target: server, load: { path: '/api/v2/generate', body: PLAIN } },
    { target: other, load: { path: `${url.pathname}${url.search}`, body } },
  ];
  await requireNewKeys(sides[1]);
  const turns: Turn[] = [];
  for (let turn = 0; turn <= rounds; turn++) {
    const many = await both(sides, connections, seconds, turn);
    const one = await both(sides, 1, seconds, turn);
    // The first round compiles.
    if (turn > 0) turns.push({ many, one });
    process.stderr.write(`round ${turn} of ${rounds}\n`);
  }
  const text = [
    machine(),
    `${rounds} rounds of ${seconds} s in turns; disk sync of 4 KiB in --data-dir: ${diskSync(folder)}`,
    ...linesOf(
      `${connections} connections`,
      turns.map(({ many }) => many),
      name,
    ),
    ...linesOf(
      'one connection',
      turns.map(({ one }) => one),
      name,
    ),
    '',
  ].join('\n');
  return { text, sound: true };
}

const options = readOptions();
await runBenchmark('beside', options, (folder) => run(options, folder));

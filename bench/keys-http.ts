/**
 * Measures key records over HTTP in a large ledger: lists, single records and revocations, on a server that is idle and on
 * one that generates keys at the same time.
 *
 *   node bench/keys-http.ts --data-dir D [--database-url postgres://…] [--calls N] [--per-second N] [--save]
 *
 * D holds a ledger that `bench/keys.ts --fill --path D/phm.db` has filled, or is new, and the database was filled with
 * `--database-url`. The bench adds an API key and revokes keys.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { drivePaced } from './drive.ts';
import { ACCOUNT } from './ledger-fill.ts';
import {
  type Environment,
  PLAIN,
  percentile,
  phm,
  positive,
  type Round,
  serverEnvironment,
  startServer,
  stopAll,
  type Target,
} from './load.ts';
import { machine, saveResult } from './results.ts';

const CONNECTIONS = 16;

type Call = (i: number) => Promise<void>;

async function send({ address, headers }: Target, path: string, body?: object): Promise<Body> {
  const { 'x-api-key': apiKey = '', 'content-type': type = '' } = headers;
  const response = await fetch(`${address}${path}`, {
    headers: { 'x-api-key': apiKey, ...(body && { 'content-type': type }) },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Body;
}

interface Body {
  readonly keys: readonly { readonly key_id: string }[];
  readonly next_cursor: string | null;
}

/** Returns IDs of keys from everywhere in the ledger. */
async function knownKeys(target: Target, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; ids.length < count; i++) {
    const before = new Date(Date.now() - (i % 170) * 86_400_000 - i * 1_000).toISOString();
    const { keys } = await send(target, `/api/v2/keys?limit=20&created_before=${before}`);
    ids.push(...keys.map(({ key_id }) => key_id));
  }
  return ids.slice(0, count);
}

async function callsOf(target: Target, count: number): Promise<[string, Call][]> {
  const ids = await knownKeys(target, 2 * count);
  const list = (query: string) => async (i: number) => {
    const before = new Date(Date.now() - (i % 170) * 86_400_000).toISOString();
    await send(target, `/api/v2/keys?created_before=${before}&${query}`);
  };
  return [
    ['page of 50', list('limit=50')],
    ['page of 100', list('limit=100')],
    ['filter that matches nothing', list('limit=100&label=env:none')],
    ['filter by status', list('limit=100&status=compromised')],
    ['record of a key', async (i) => void (await send(target, `/api/v2/keys/${ids[i]}`))],
    [
      'revocation',
      async (i) => {
        const id = ids.pop() ?? ids[i];
        await send(target, `/api/v2/keys/${id}/revoke`, { reason: 'key_compromise' });
      },
    ],
  ];
}

/** Times each call, one after the other. Returns lines of the report. */
async function measure(target: Target, count: number): Promise<string[]> {
  const lines: string[] = [];
  for (const [name, call] of await callsOf(target, count)) {
    const times = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const from = performance.now();
      await call(i);
      times[i] = performance.now() - from;
    }
    times.sort();
    const at = (part: number) => times[Math.min(count - 1, Math.floor(part * count))] ?? 0;
    const figures = [at(0.5), at(0.99), at(1)].map((ms) => ms.toFixed(1).padStart(8));
    lines.push(`  ${name.padEnd(32)}${figures.join('')}`);
  }
  return lines;
}

/** Returns the environment of a server on a filled database. The first run makes the master secret and the log. */
function onPostgres(url: string): Environment {
  const env = serverEnvironment(folder, {
    PHM_DATABASE_URL: url,
    PHM_MASTER_KEY_FILE: join(folder, 'master.key'),
  });
  if (!existsSync(join(folder, 'master.key'))) {
    phm(env, ['secret', 'new']);
    phm(env, ['log', 'init']);
  }
  return env;
}

const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string' },
    'database-url': { type: 'string' },
    calls: { type: 'string', default: '200' },
    'per-second': { type: 'string', default: '2000' },
    save: { type: 'boolean', default: false },
  },
});
const folder = resolve(values['data-dir'] ?? '');
const databaseUrl = values['database-url'];
const calls = positive('--calls', values.calls);
const perSecond = positive('--per-second', values['per-second']);
const env = databaseUrl === undefined ? serverEnvironment(folder) : onPostgres(databaseUrl);
const log = join(folder, `bench-${Date.now()}.log`);
const from = performance.now();
const server = await startServer(env, {}, log);
const startMs = performance.now() - from;
const { api_key: apiKey = '' } = phm(env, ['api-key', 'issue', '--account', ACCOUNT]);
const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
const target: Target = { ...server, headers };
try {
  // The check of SQLite's file at the start reads all of it.
  while (!databaseUrl && !readFileSync(log, 'utf8').includes('the database was checked'))
    await delay(100);
  const idle = await measure(target, calls);
  // The load goes on until the calls are done.
  let busy: string[] = [];
  const rounds: Round[] = [];
  let isDone = false;
  const load = async () => {
    const plain = { path: '/api/v2/generate', body: PLAIN, connections: CONNECTIONS };
    while (!isDone) rounds.push(await drivePaced(target, plain, 3, perSecond));
  };
  await Promise.all([
    load(),
    measure(target, calls)
      .then((lines) => {
        busy = lines;
      })
      .finally(() => {
        isDone = true;
      }),
  ]);
  const rate = rounds.reduce((sum, one) => sum + one.perSecond, 0) / rounds.length;
  const p99 = Math.max(...rounds.map((one) => percentile(one, 0.99)));
  const text = `${[
    machine(),
    `${databaseUrl ? 'PostgreSQL' : 'SQLite'}, ${calls} calls each, one at a time; the server started in ${(startMs / 1_000).toFixed(1)} s`,
    '',
    `${'idle server, ms'.padEnd(34)}median     p99     max`,
    ...idle,
    `${`${rate.toFixed(0)} keys/s beside, ms`.padEnd(34)}median     p99     max`,
    ...busy,
    `  ${'these keys, p99 of the worst 3 s'.padEnd(32)}${''.padStart(8)}${p99.toFixed(1).padStart(8)}`,
  ].join('\n')}\n`;
  process.stdout.write(text);
  if (values.save) saveResult('keys-http', text);
} finally {
  await stopAll();
}

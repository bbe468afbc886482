/**
 * Requests a second of the real server, beside a bare Fastify route that returns the same JSON.
 *
 *   node bench/http.ts [--seconds N] [--connections N] [--rounds N] [--data-dir D] [--save]
 *
 * Both run in processes of their own and are driven in turns, round after round, so that a change of
 * the machine's mood meets both. Answers are checked before anything is timed. Only 2xx answers count;
 * any other is reported, and so is a server whose own counter does not agree with ours.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { diskSync, machine, median, saveResult } from './results.ts';

const MAIN = resolve(import.meta.dirname, '../src/main.ts');
const BARE = resolve(import.meta.dirname, 'bare-server.ts');

/** Spread of the rounds, (max − min) / median, above which a figure is not to be trusted. */
const NOISE_LIMIT = 0.1;

/** A suite worker takes one request at a time: more connections only lengthen the queue. */
const VALIDATED_CONNECTIONS = 8;

const CHECKED_KEYS = 20;
const SETTLE_MS = 300;

interface Options {
  readonly seconds: number;
  readonly connections: number;
  readonly rounds: number;
  readonly dataDir: string;
  readonly save: boolean;
}

/** One thing to drive. */
interface Case {
  readonly name: string;
  readonly address: string;
  readonly path: string;
  readonly body: string;
  readonly connections: number;
  /** Answers are counted by the server too. */
  readonly metered: boolean;
}

interface Round {
  readonly perSecond: number;
  readonly latenciesMs: Float64Array;
  readonly problems: readonly string[];
}

/** The server under test and what is needed to talk to it. */
interface Target {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
}

type LoadResult = Parameters<Parameters<typeof autocannon>[1]>[1];

const children: ChildProcess[] = [];

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '10' },
      connections: { type: 'string', default: '32' },
      rounds: { type: 'string', default: '5' },
      'data-dir': { type: 'string', default: tmpdir() },
      save: { type: 'boolean', default: false },
    },
  });
  return {
    seconds: positive('--seconds', values.seconds),
    connections: positive('--connections', values.connections),
    rounds: positive('--rounds', values.rounds),
    dataDir: values['data-dir'],
    save: values.save,
  };
}

function positive(flag: string, text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new RangeError(`${flag} takes a whole number from 1`);
  return Number(text);
}

/** Starts a program that writes one JSON line with its address. Its stderr goes to a file. */
async function start(args: string[], env: Record<string, string>, log: string): Promise<string> {
  const stderr = openSync(log, 'a');
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', stderr] });
  closeSync(stderr);
  children.push(child);
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += chunk;
    if (text.includes('\n')) return JSON.parse(text).address;
  }
  throw new Error(`${args[0]} did not start:\n${readFileSync(log, 'utf8')}`);
}

async function stopAll(): Promise<void> {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exit = once(child, 'exit');
    child.kill('SIGINT');
    await exit;
  }
}

/** Starts the server on its own folder, with an Enterprise account: no quota, no rate limit. */
async function startServer(folder: string): Promise<Target> {
  const env = {
    PATH: process.env.PATH ?? '',
    PHM_DATA_DIR: folder,
    PHM_PORT: '0',
    PHM_RATE_LIMITS: 'off',
    PHM_DEMO_KEYS: 'off',
  };
  const phm = (...args: string[]) =>
    JSON.parse(
      execFileSync(process.execPath, [MAIN, ...args, '--json'], { env, encoding: 'utf8' }),
    );
  const account = phm('account', 'create', '--name', 'bench', '--plan', 'enterprise');
  const { api_key: apiKey } = phm('key', 'issue', '--account', account.account_id);
  const address = await start([MAIN, 'serve', '--json'], env, join(folder, 'log'));
  return { address, headers: { 'content-type': 'application/json', 'x-api-key': apiKey } };
}

async function post(address: string, path: string, headers: Target['headers'], body: string) {
  const response = await fetch(`${address}${path}`, { method: 'POST', headers, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

function check(holds: boolean, claim: string): void {
  if (!holds) throw new Error(`the answers are wrong, nothing was timed: ${claim}`);
}

/** Holds answers of every kind against what they should be; returns a key to validate. */
async function verify({ address, headers }: Target, bareAddress: string): Promise<string> {
  const keys = new Set<string>();
  let plain: Record<string, unknown> = {};
  for (let i = 0; i < CHECKED_KEYS; i++) {
    plain = await post(address, '/api/v2/generate', headers, PLAIN);
    check(/^[0-9a-f]{64}$/.test(String(plain.key)), 'a key has 64 hexadecimal digits');
    keys.add(String(plain.key));
  }
  check(keys.size === CHECKED_KEYS, 'keys differ');
  const validated = await post(address, '/api/v2/generate', headers, VALIDATED);
  const { nist_validation: evidence } = validated;
  check(evidence?.certification_status === 'PASS', 'a validated key has passed the gate');
  check(evidence.total_tests >= 13, 'at least 13 tests were run');
  for (const key of [String(plain.key), validated.key]) {
    const verdict = await post(address, '/api/v2/validate', headers, JSON.stringify({ key }));
    check(verdict.valid === true, 'a generated key is valid');
  }
  const unknown = JSON.stringify({ key: '0123456789abcdef'.repeat(4) });
  const refused = await post(address, '/api/v2/validate', headers, unknown);
  check(refused.valid === false, 'a key from elsewhere is not valid');
  const bare = await post(bareAddress, '/api/v2/generate', headers, PLAIN);
  check(
    Object.keys(bare).join() === Object.keys(plain).join(),
    'the bare route has the same fields',
  );
  return validated.key;
}

const PLAIN = JSON.stringify({ security_level: 256 });
const VALIDATED = JSON.stringify({ security_level: 256, enable_nist_validation: true });

function makeCases(server: Target, bareAddress: string, key: string, connections: number): Case[] {
  const generate = { address: server.address, path: '/api/v2/generate', metered: true };
  const few = Math.min(connections, VALIDATED_CONNECTIONS);
  return [
    {
      ...generate,
      name: 'bare route',
      address: bareAddress,
      body: PLAIN,
      connections,
      metered: false,
    },
    { ...generate, name: 'generate', body: PLAIN, connections },
    {
      ...generate,
      name: 'validate',
      path: '/api/v2/validate',
      body: JSON.stringify({ key }),
      connections,
    },
    { ...generate, name: 'generate, validated', body: VALIDATED, connections: few },
  ];
}

/** Drives one case for some seconds. What is not a 2xx is a problem, not a request. */
async function drive(one: Case, { headers }: Target, seconds: number): Promise<Round> {
  const latencies: number[] = [];
  const result = await new Promise<LoadResult>((done, fail) => {
    const run = autocannon(
      {
        url: `${one.address}${one.path}`,
        method: 'POST',
        headers,
        body: one.body,
        connections: one.connections,
        duration: seconds,
        excludeErrorStats: true,
      },
      (error, finished) => (error ? fail(error) : done(finished)),
    );
    run.on('response', (_client, status: number, _bytes, ms: number) => {
      if (status >= 200 && status < 300) latencies.push(ms);
    });
  });
  return {
    perSecond: result['2xx'] / result.duration,
    latenciesMs: Float64Array.from(latencies).sort(),
    problems: problemsOf(result),
  };
}

function problemsOf({ non2xx, errors, timeouts, statusCodeStats }: LoadResult): string[] {
  const problems: string[] = [];
  const codes = Object.entries(statusCodeStats).filter(([status]) => !status.startsWith('2'));
  const list = codes.map(([status, { count }]) => `${count} × ${status}`).join(', ');
  if (non2xx > 0) problems.push(`${non2xx} answers were not 2xx (${list})`);
  if (errors > 0) problems.push(`${errors} connection errors`);
  if (timeouts > 0) problems.push(`${timeouts} timeouts`);
  return problems;
}

/** What the server itself has counted for the account. */
async function usage({ address, headers }: Target): Promise<number> {
  const response = await fetch(`${address}/api/v2/metrics?hours=24`, { headers });
  return ((await response.json()) as { metrics: { usage: { total_usage: number } } }).metrics.usage
    .total_usage;
}

/** Waits until what the last round left under way is done: it would weigh on the next one. */
async function settle({ address, headers }: Target): Promise<void> {
  // The queue of the suite workers is first in, first out, and its jobs are the long ones.
  await post(address, '/api/v2/generate', headers, VALIDATED);
  await setTimeout(SETTLE_MS);
}

/** One round, held against the server's own counter where there is one. */
async function measure(one: Case, server: Target, seconds: number): Promise<Round> {
  if (!one.metered) return drive(one, server, seconds);
  const before = await usage(server);
  const round = await drive(one, server, seconds);
  const counted = (await usage(server)) - before;
  await settle(server);
  const answered = round.latenciesMs.length;
  // Requests that were under way at the end are counted by the server and not by us.
  const agrees = counted >= answered && counted <= answered + one.connections;
  const problem = `we count ${answered} answers, the server counts ${counted} requests`;
  return agrees ? round : { ...round, problems: [...round.problems, problem] };
}

function percentile({ latenciesMs }: Round, share: number): number {
  const index = Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share));
  return latenciesMs[index] ?? Number.NaN;
}

interface Summary {
  readonly line: string;
  readonly warnings: readonly string[];
}

function summarise(one: Case, rounds: readonly Round[], bare: readonly Round[]): Summary {
  const rates = rounds.map(({ perSecond }) => perSecond);
  const rate = median(rates);
  const ratio = median(rounds.map(({ perSecond }, i) => perSecond / bare[i].perSecond));
  const spread = (Math.max(...rates) - Math.min(...rates)) / rate;
  const latency = (share: number) =>
    median(rounds.map((round) => percentile(round, share))).toFixed(2);
  const cells = [
    one.name.padEnd(20),
    String(one.connections).padStart(5),
    rate.toFixed(rate < 100 ? 1 : 0).padStart(9),
    ratio.toPrecision(2).padStart(8),
    ...[0.5, 0.975, 0.99].map((share) => latency(share).padStart(9)),
    `${(100 * spread).toFixed(0)} %`.padStart(8),
  ];
  const noise = `${one.name}: the rounds differ by ${(100 * spread).toFixed(0)} %, above 10 %: do not trust this figure`;
  const problems = rounds.flatMap((round, i) =>
    round.problems.map((problem) => `${one.name}, round ${i + 1}: ${problem}`),
  );
  return {
    line: cells.join(' '),
    warnings: spread > NOISE_LIMIT ? [...problems, noise] : problems,
  };
}

function heading({ seconds, rounds }: Options, folder: string): string {
  const cores = availableParallelism();
  return [
    machine(),
    `${rounds} rounds of ${seconds} s, in turns`,
    `server: default settings but for rate limits (off) and demo keys (off); its log goes to a file`,
    `disk sync of 4 KiB beside the database: ${diskSync(folder)}`,
    `The load generator shares the ${cores} cores with what it drives` +
      (cores < 4 ? ': with so few, all rates are lower than a server alone would reach.' : '.'),
    '',
    'case                 conns   req/s  of bare    p50 ms  p97.5 ms   p99 ms   spread',
  ].join('\n');
}

async function run(options: Options, folder: string): Promise<{ text: string; sound: boolean }> {
  const server = await startServer(folder);
  const bareAddress = await start(
    [BARE],
    { PATH: process.env.PATH ?? '' },
    join(folder, 'bare-log'),
  );
  const key = await verify(server, bareAddress);
  const cases = makeCases(server, bareAddress, key, options.connections);
  const rounds = new Map<Case, Round[]>(cases.map((one) => [one, []]));
  for (const one of cases) await drive(one, server, 1);
  await settle(server);
  for (let i = 0; i < options.rounds; i++) {
    for (const [one, done] of rounds) {
      done.push(await measure(one, server, options.seconds));
      process.stderr.write(`round ${i + 1}: ${one.name} ${done[i]?.perSecond.toFixed(1)}/s\n`);
    }
  }
  const bare = rounds.get(cases[0]) ?? [];
  const summaries = [...rounds].map(([one, done]) => summarise(one, done, bare));
  const warnings = summaries.flatMap((summary) => summary.warnings);
  const lines = [
    heading(options, folder),
    ...summaries.map(({ line }) => line),
    ...warnings.map((warning) => `WARNING: ${warning}`),
    'req/s: median of the rounds, 2xx answers only. of bare: median of the ratios round by round.',
    'Latencies: percentiles of each round, then their median, as the load generator sees them.',
  ];
  const sound = [...rounds.values()].flat().every(({ problems }) => problems.length === 0);
  return { text: `${lines.join('\n')}\n`, sound };
}

/** Ctrl-C ends what was started, too. */
function endOnSignal(folder: string): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      for (const child of children) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
      process.exit(1);
    });
  }
}

const options = readOptions();
mkdirSync(options.dataDir, { recursive: true });
const folder = mkdtempSync(join(options.dataDir, 'phm-bench-'));
endOnSignal(folder);
try {
  const { text, sound } = await run(options, folder);
  process.stdout.write(text);
  if (options.save) saveResult('http', text);
  if (!sound) process.exitCode = 1;
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}

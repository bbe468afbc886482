/** Shared parts of the benchmarks over HTTP: servers, load, and checks of the answers. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { median } from './results.ts';
import { ServerWatch, WATCH_OPTIONS } from './server-watch.ts';

/** The command line, with the options for Node that operators get. */
export const PROGRAM: string = programOf(resolve(import.meta.dirname, '..'));
const BARE = resolve(import.meta.dirname, 'bare-server.ts');

export const PLAIN: string = JSON.stringify({ security_level: 256 });
export const WITH_EVIDENCE: string = JSON.stringify({
  security_level: 256,
  enable_nist_validation: true,
});

/** Spread of the rounds, (max − min) / median, above which a figure is not trustworthy. */
export const NOISE_LIMIT = 0.1;

const CHECKED_KEYS = 20;

/** A server process and the headers of its requests. */
export interface Target {
  readonly address: string;
  readonly pid: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for a server that is not watched. */
  readonly watch: ServerWatch | null;
}

/** Requests to send to a target. */
export interface Load {
  readonly path: string;
  readonly body: string;
  readonly connections: number;
  /** Name of a header that has a new value in every request. */
  readonly ownHeader?: string;
}

/** Results of some seconds of load. */
export interface Round {
  /** 2xx answers. */
  readonly perSecond: number;
  /** Ascending. */
  readonly latenciesMs: Float64Array;
  /** Reasons why the round is worthless; empty if there are none. */
  readonly problems: readonly string[];
}

export type Environment = Readonly<Record<string, string>>;

/** A process to start. */
interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Environment;
  /** File for standard error. */
  readonly log: string;
  readonly isWatched?: boolean;
}

const children: ChildProcess[] = [];

/** Returns the number of a command-line option. Throws `RangeError` if it is not one from 1. */
export function positive(flag: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new RangeError(`${flag} takes a whole number from 1`);
  return Number(text);
}

/** Starts a program that writes one JSON line with its address. Its standard error goes to a file. */
async function start({
  file,
  args,
  env,
  log,
  isWatched = false,
}: Program): Promise<Omit<Target, 'headers'>> {
  const stderr = openSync(log, 'a');
  const child = spawn(file, args, {
    env: isWatched ? { ...env, NODE_OPTIONS: WATCH_OPTIONS } : env,
    stdio: ['ignore', 'pipe', stderr, ...(isWatched ? (['ipc'] as const) : [])],
  });
  closeSync(stderr);
  children.push(child);
  const watch = isWatched ? new ServerWatch(child) : null;
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += chunk;
    if (!text.includes('\n')) continue;
    return { address: JSON.parse(text).address, pid: child.pid ?? 0, watch };
  }
  throw new Error(`${file} did not start:\n${readFileSync(log, 'utf8')}`);
}

export async function stopAll(): Promise<void> {
  for (const child of children) await stop(child);
}

/** Stops one server. */
export async function stopTarget({ pid }: Target): Promise<void> {
  for (const child of children) if (child.pid === pid) await stop(child);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  await exit;
}

/** Ends the started processes on Ctrl-C as well. */
export function endOnSignal(folder: string): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      for (const child of children) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
      process.exit(1);
    });
  }
}

/** Returns the environment of a server with its own folder, without rate limits and demo keys. The accounts have no quota. */
export function serverEnvironment(folder: string, extra: Environment = {}): Environment {
  return {
    PATH: process.env.PATH ?? '',
    PHM_DATA_DIR: folder,
    PHM_PORT: '0',
    PHM_RATE_LIMITS: 'off',
    PHM_DEMO_KEYS: 'off',
    ...extra,
  };
}

/** Returns the command line of a checkout. */
export function programOf(checkout: string): string {
  return join(checkout, 'bin/phm');
}

/** Runs a `phm` command and returns its parsed output. */
export function phm(
  env: Environment,
  args: readonly string[],
  program: string = PROGRAM,
): Record<string, string> {
  // With a pipe, its messages are in the error if it fails, and nowhere else.
  const options = { env, encoding: 'utf8', stdio: 'pipe' } as const;
  return JSON.parse(execFileSync(program, [...args, '--json'], options));
}

/** Adds an Enterprise account, which has no quota, and returns the headers of its requests. */
export function addAccount(env: Environment, program: string = PROGRAM): Target['headers'] {
  const init = env.PHM_DATABASE_URL ? [] : ['--init'];
  const create = ['account', 'create', ...init, '--name', 'bench', '--plan', 'enterprise'];
  const { account_id: account } = phm(env, create, program);
  // The former name of `api-key`, which earlier checkouts know.
  const { api_key: apiKey } = phm(env, ['key', 'issue', '--account', account], program);
  return { 'content-type': 'application/json', 'x-api-key': apiKey };
}

export async function startServer(
  env: Environment,
  headers: Target['headers'],
  log: string,
  { program = PROGRAM, isWatched = false }: { program?: string; isWatched?: boolean } = {},
): Promise<Target> {
  const server = { file: program, args: ['serve', '--json'], env, log, isWatched };
  return { ...(await start(server)), headers };
}

/** Starts the yardstick: a Fastify route that returns the same JSON as a plain generate of this server, with empty threads. */
export async function startBare(server: Target, log: string, threads = 0): Promise<Target> {
  const answer = await post(server, '/api/v2/generate', PLAIN);
  const env = { PATH: process.env.PATH ?? '' };
  const { headers } = server;
  const args = [BARE, JSON.stringify(answer), `${threads}`];
  return { ...(await start({ file: process.execPath, args, env, log })), headers };
}

/** Posts one request and returns the parsed answer. Throws if the status is not 200. */
export async function post(
  { address, headers }: Target,
  path: string,
  body: string,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${address}${path}`, { method: 'POST', headers, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

export function check(holds: boolean, claim: string): void {
  if (!holds) throw new Error(`the answers are wrong, nothing was timed: ${claim}`);
}

/** Checks answers of every kind; returns a key to validate. */
export async function verify(server: Target): Promise<string> {
  const keys = new Set<string>();
  let plain: Record<string, unknown> = {};
  for (let i = 0; i < CHECKED_KEYS; i++) {
    plain = await post(server, '/api/v2/generate', PLAIN);
    check(/^[0-9a-f]{64}$/.test(String(plain.key)), 'a key has 64 hexadecimal digits');
    keys.add(String(plain.key));
  }
  check(keys.size === CHECKED_KEYS, 'keys differ');
  const tested = await post(server, '/api/v2/generate', WITH_EVIDENCE);
  const evidence = tested.nist_validation as Record<string, unknown>;
  check(evidence.certification_status === 'PASS', 'a validated key has passed the gate');
  check(Number(evidence.total_tests) >= 13, 'at least 13 tests were run');
  for (const { key } of [plain, tested]) {
    const verdict = await post(server, '/api/v2/validate', JSON.stringify({ key }));
    check(verdict.valid === true, 'a generated key is valid');
  }
  const unknown = JSON.stringify({ key: '0123456789abcdef'.repeat(4) });
  const refused = await post(server, '/api/v2/validate', unknown);
  check(refused.valid === false, 'a key from elsewhere is not valid');
  return String(tested.key);
}

/** Returns the server's own count of the account's requests. */
export async function usage({ address, headers }: Target): Promise<number> {
  const response = await fetch(`${address}/api/v2/metrics?hours=24`, { headers });
  const { metrics } = (await response.json()) as { metrics: { usage: { total_usage: number } } };
  return metrics.usage.total_usage;
}

export function percentile({ latenciesMs }: Round, share: number): number {
  const index = Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share));
  return latenciesMs[index] ?? Number.NaN;
}

/** (max − min) / median. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}

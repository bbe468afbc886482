/** Shared parts of the benchmarks over HTTP: servers, load, and checks of the answers. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon from 'autocannon';
import { median } from './results.ts';

const MAIN = resolve(import.meta.dirname, '../src/main.ts');
const BARE = resolve(import.meta.dirname, 'bare-server.ts');

export const PLAIN: string = JSON.stringify({ security_level: 256 });
export const WITH_EVIDENCE: string = JSON.stringify({
  security_level: 256,
  enable_nist_validation: true,
});

/** Spread of the rounds, (max − min) / median, above which a figure is not trustworthy. */
export const NOISE_LIMIT = 0.1;

const CHECKED_KEYS = 20;
const WARM_UP_MS = 1_000;

/** A server process and the headers of its requests. */
export interface Target {
  readonly address: string;
  readonly pid: number;
  readonly headers: Readonly<Record<string, string>>;
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

type LoadResult = Parameters<Parameters<typeof autocannon>[1]>[1];

export type Environment = Readonly<Record<string, string>>;

const children: ChildProcess[] = [];

/** Returns the number of a command-line option. Throws `RangeError` if it is not one from 1. */
export function positive(flag: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new RangeError(`${flag} takes a whole number from 1`);
  return Number(text);
}

/** Starts a program that writes one JSON line with its address. Its standard error goes to a file. */
async function start(
  args: string[],
  env: Environment,
  log: string,
): Promise<{ address: string; pid: number }> {
  const stderr = openSync(log, 'a');
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', stderr] });
  closeSync(stderr);
  children.push(child);
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += chunk;
    if (text.includes('\n')) return { address: JSON.parse(text).address, pid: child.pid ?? 0 };
  }
  throw new Error(`${args[0]} did not start:\n${readFileSync(log, 'utf8')}`);
}

export async function stopAll(): Promise<void> {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exit = once(child, 'exit');
    child.kill('SIGINT');
    await exit;
  }
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

/** Runs a `phm` command and returns its parsed output. */
export function phm(env: Environment, ...args: string[]): Record<string, string> {
  const text = execFileSync(process.execPath, [MAIN, ...args, '--json'], { env, encoding: 'utf8' });
  return JSON.parse(text);
}

/** Adds an Enterprise account, which has no quota, and returns the headers of its requests. */
export function addAccount(env: Environment): Target['headers'] {
  const init = env.PHM_DATABASE_URL ? [] : ['--init'];
  const create = ['account', 'create', ...init, '--name', 'bench', '--plan', 'enterprise'];
  const account = phm(env, ...create);
  const { api_key: apiKey } = phm(env, 'key', 'issue', '--account', account.account_id);
  return { 'content-type': 'application/json', 'x-api-key': apiKey };
}

export async function startServer(
  env: Environment,
  headers: Target['headers'],
  log: string,
): Promise<Target> {
  return { ...(await start([MAIN, 'serve', '--json'], env, log)), headers };
}

/** Starts the yardstick: a Fastify route that returns an object like the answer of a plain generate. */
export async function startBare(headers: Target['headers'], log: string): Promise<Target> {
  return { ...(await start([BARE], { PATH: process.env.PATH ?? '' }, log)), headers };
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
export async function verify(server: Target, bare: Target): Promise<string> {
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
  const fields = Object.keys(await post(bare, '/api/v2/generate', PLAIN));
  check(fields.join() === Object.keys(plain).join(), 'the bare route has the same fields');
  return String(tested.key);
}

/** Loads a target for some seconds as fast as it answers. Answers other than 2xx are problems and do not count. */
export async function drive(target: Target, load: Load, seconds: number): Promise<Round> {
  const latencies: number[] = [];
  const result = await new Promise<LoadResult>((done, fail) => {
    const run = autocannon(
      {
        url: `${target.address}${load.path}`,
        method: 'POST',
        headers: target.headers,
        body: load.body,
        ...(load.ownHeader && { requests: [ownHeaders(load, target)] }),
        connections: load.connections,
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

/**
 * Sends requests at even intervals over some seconds without waiting for earlier answers, as users do. The latency
 * of each counts from its due time, so that a stall shows in every request that it delays. The first second, in which
 * connections are made and code is compiled, does not count.
 */
export async function drivePaced(
  target: Target,
  load: Load,
  seconds: number,
  perSecond: number,
): Promise<Round> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const latencies: number[] = [];
  const failures: string[] = [];
  const answers: Promise<void>[] = [];
  const began = performance.now();
  const endMs = WARM_UP_MS + seconds * 1000;
  for (let due = 0; due < endMs; await delay(1)) {
    const now = performance.now() - began;
    for (; due <= now && due < endMs; due += 1000 / perSecond) {
      const dueAt = began + due;
      const counts = due >= WARM_UP_MS;
      answers.push(
        send(agent, target, load).then(
          (status) => {
            if (status !== 200) failures.push(`status ${status}`);
            else if (counts) latencies.push(performance.now() - dueAt);
          },
          (error: Error) => {
            failures.push(error.message);
          },
        ),
      );
    }
  }
  await Promise.all(answers);
  agent.destroy();
  return {
    perSecond: latencies.length / seconds,
    latenciesMs: Float64Array.from(latencies).sort(),
    problems: failures.length > 0 ? [`${failures.length} failed, such as: ${failures[0]}`] : [],
  };
}

/** Sends one request and reads its answer to the end. */
function send(agent: Agent, { address, headers }: Target, { path, body }: Load): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${address}${path}`, { agent, method: 'POST', headers }, (answer) => {
      answer.on('end', () => resolve(answer.statusCode ?? 0)).on('error', reject);
      answer.resume();
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Returns a request that gets a new value of the load's own header each time. */
function ownHeaders({ path, body, ownHeader = '' }: Load, { headers }: Target) {
  return {
    method: 'POST',
    path,
    body,
    setupRequest: (request: { headers?: object }) => ({
      ...request,
      headers: { ...headers, [ownHeader]: randomUUID() },
    }),
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

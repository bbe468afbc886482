/**
 * Measures what one client waits for, and how many validated keys eight clients get, beside what the machine could do:
 *
 *   node bench/clients.ts [--seconds N] [--rounds N] [--data-dir D] [--save]
 *
 * - A plain key of one client, beside one synced append of as many bytes as the server writes for it, on the same disk, and
 *   one request to a bare Fastify route.
 * - A validated key of one client, beside the suite alone and one plain key.
 * - Validated keys of eight clients, beside two processes that run only the suite.
 *
 * The works take turns, round after round, and every ratio is of one round. Linux only.
 */
import { execFile } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { drive } from './drive.ts';
import {
  addAccount,
  type Load,
  PLAIN,
  percentile,
  type Round,
  serverEnvironment,
  startBare,
  startServer,
  type Target,
  verify,
  WITH_EVIDENCE,
} from './load.ts';
import { diskSync, machine, median } from './results.ts';
import { type Finding, type LoadOptions, readLoadOptions, runBenchmark } from './run.ts';

const SUITE = resolve(import.meta.dirname, 'suite-process.ts');
const PATH = '/api/v2/generate';
const ONE: Omit<Load, 'body'> = { path: PATH, connections: 1 };
const EVIDENCE_CONNECTIONS = 8;

interface Waits {
  readonly p50: number;
  readonly p99: number;
}

interface Figures {
  readonly plain: Waits;
  readonly bytes: number;
  readonly append: Waits;
  readonly bare: Waits;
  readonly validated: Waits;
  readonly suiteMs: number;
  readonly eight: number;
  readonly twoSuites: number;
}

const waitsOf = (round: Round): Waits => ({
  p50: percentile(round, 0.5),
  p99: percentile(round, 0.99),
});

/** Returns the bytes that a process has had written to disks so far. */
function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

/** Appends so many bytes to a file again and again, each time to the disk. */
function appends(folder: string, bytes: number, seconds: number): Waits {
  const path = join(folder, 'appended');
  const file = openSync(path, 'a');
  const block = Buffer.alloc(bytes, 1);
  const times: number[] = [];
  const endMs = performance.now() + 1_000 * seconds;
  for (let from = performance.now(); from < endMs; from = performance.now()) {
    writeSync(file, block);
    fdatasyncSync(file);
    times.push(performance.now() - from);
  }
  closeSync(file);
  rmSync(path);
  return waitsOf({ perSecond: 0, latenciesMs: Float64Array.from(times).sort(), problems: [] });
}

/** Runs the suite alone in so many processes side by side. */
async function suites(count: number, seconds: number) {
  const run = () => promisify(execFile)(process.execPath, [SUITE, String(seconds)]);
  const outputs = await Promise.all(Array.from({ length: count }, run));
  const done = outputs.map(({ stdout }): { runs: number; medianMs: number } => JSON.parse(stdout));
  return {
    perSecond: done.reduce((sum, { runs }) => sum + runs, 0) / seconds,
    medianMs: median(done.map(({ medianMs }) => medianMs)),
  };
}

async function measure(server: Target, bare: Target, folder: string, seconds: number) {
  const before = writtenBytes(server.pid);
  const plain = await drive(server, { ...ONE, body: PLAIN }, seconds);
  const bytes = Math.round((writtenBytes(server.pid) - before) / plain.latenciesMs.length);
  const append = appends(folder, bytes, seconds);
  const bareRound = await drive(bare, { ...ONE, body: PLAIN }, seconds);
  const validated = await drive(server, { ...ONE, body: WITH_EVIDENCE }, seconds);
  const alone = await suites(1, seconds);
  const many = { path: PATH, body: WITH_EVIDENCE, connections: EVIDENCE_CONNECTIONS };
  const eight = await drive(server, many, seconds);
  const two = await suites(2, seconds);
  const problems = [plain, bareRound, validated, eight].flatMap((round) => round.problems);
  if (problems.length > 0) throw new Error(problems.join('; '));
  return {
    plain: waitsOf(plain),
    bytes,
    append,
    bare: waitsOf(bareRound),
    validated: waitsOf(validated),
    suiteMs: alone.medianMs,
    eight: eight.perSecond,
    twoSuites: two.perSecond,
  };
}

function report(all: readonly Figures[], options: LoadOptions, folder: string): string {
  const over = (figure: (one: Figures) => number) => median(all.map(figure));
  const line = (name: string, of: (one: Figures) => Waits) =>
    `${name.padEnd(40)}${over((one) => of(one).p50).toFixed(3)} ${over((one) => of(one).p99).toFixed(2)}`;
  const ratio = (name: string, figure: (one: Figures) => number) => {
    const sorted = all.map(figure).sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))].toFixed(2);
    return `${name}: ${median(sorted).toFixed(2)} (quartiles ${at(0.25)} to ${at(0.75)})`;
  };
  return [
    machine(),
    `${all.length} rounds, each work ${options.seconds} s; disk sync of 4 KiB beside the database: ${diskSync(folder)}`,
    '',
    'one client, ms                          p50 p99',
    line('plain key', (one) => one.plain),
    line(`synced append of ${over((one) => one.bytes).toFixed(0)} bytes`, (one) => one.append),
    line('bare route', (one) => one.bare),
    line('validated key', (one) => one.validated),
    `the suite alone: ${over((one) => one.suiteMs).toFixed(3)}`,
    `validated keys of eight clients: ${over((one) => one.eight).toFixed(0)}/s; two processes with the suite alone: ${over((one) => one.twoSuites).toFixed(0)}/s`,
    '',
    ratio('p50 of a plain key / (append + bare route)', ({ plain, append, bare }) => {
      return plain.p50 / (append.p50 + bare.p50);
    }),
    ratio(
      'p99 of a plain key − p99 of append − p99 of bare route, ms',
      ({ plain, append, bare }) => {
        return plain.p99 - append.p99 - bare.p99;
      },
    ),
    ratio('p50 of a validated key / (suite + plain key)', ({ validated, suiteMs, plain }) => {
      return validated.p50 / (suiteMs + plain.p50);
    }),
    ratio('validated keys of eight clients / two processes', ({ eight, twoSuites }) => {
      return eight / twoSuites;
    }),
    '',
  ].join('\n');
}

async function run(options: LoadOptions, folder: string): Promise<Finding> {
  const env = serverEnvironment(join(folder, 'data'));
  const headers = addAccount(env);
  const server = await startServer(env, headers, join(folder, 'log'));
  await verify(server);
  const bare = await startBare(server, join(folder, 'bare-log'));
  const all: Figures[] = [];
  for (let i = 0; i <= options.rounds; i++) {
    const figures = await measure(server, bare, folder, options.seconds);
    // The first round compiles.
    if (i > 0) all.push(figures);
    process.stderr.write(`round ${i} of ${options.rounds}\n`);
  }
  return { text: report(all, options, folder), sound: true };
}

const options = readLoadOptions({ connections: '1', rounds: '20' });
await runBenchmark('clients', options, (folder) => run(options, folder));

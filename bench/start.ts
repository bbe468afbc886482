/**
 * Time from the start of a server's process to its first 200 of `/readyz`, on an existing SQLite ledger with the default
 * configuration, and where that time goes:
 *
 *     node bench/start.ts [--starts 9] [--against DIR] [--profile]
 *
 * With `--against`, starts of another built checkout take turns with those of this one. With `--profile`, one more start
 * writes a CPU profile of each thread, from which come the phases: milliseconds since the process began, and how much of
 * a phase the thread was busy. Profiling makes that start slower.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const ROOT = resolve(import.meta.dirname, '..');
const POLL_MS = 2;
const START_LIMIT_MS = 60_000;

/** Starts that create the ledger and fill the compile cache. */
const WARM_UP = 2;

interface Start {
  readonly readyMs: number;
  /** CPU time of all threads until then; null where the system does not report it. */
  readonly cpuMs: number | null;
}

interface Checkout {
  readonly name: string;
  readonly root: string;
  readonly dataDir: string;
  readonly starts: Start[];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/** Starts a server, waits until it is ready, and ends it. */
async function start({ root, dataDir }: Checkout, flags: readonly string[] = []): Promise<Start> {
  const port = await freePort();
  const { PATH = '', PHM_WORKERS } = process.env;
  const env = {
    PATH,
    PHM_DATA_DIR: dataDir,
    PHM_PORT: String(port),
    PHM_DRAIN_SECONDS: '0',
    ...(PHM_WORKERS && { PHM_WORKERS }),
  };
  const args = ['--disable-sigusr1', ...flags, join(root, 'src/main.mjs'), 'serve'];
  const beginMs = performance.now();
  const server = spawn(join(root, 'node_modules/.bin/node'), args, { env, stdio: 'ignore' });
  const exited = once(server, 'exit');
  while (!(await isReady(port))) {
    if (server.exitCode !== null || performance.now() - beginMs > START_LIMIT_MS) {
      server.kill('SIGKILL');
      throw new Error(`${root}: the server did not become ready`);
    }
    await sleep(POLL_MS);
  }
  const readyMs = performance.now() - beginMs;
  const cpuMs = cpuOf(server.pid ?? 0);
  server.kill('SIGINT');
  await exited;
  return { readyMs, cpuMs };
}

async function isReady(port: number): Promise<boolean> {
  try {
    const { ok } = await fetch(`http://127.0.0.1:${port}/readyz`);
    return ok;
  } catch {
    return false;
  }
}

/** Returns the CPU time of the living threads of a process, from Linux' scheduler. */
function cpuOf(pid: number): number | null {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const nanoseconds = threads.map((id) =>
      Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]),
    );
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
  } catch {
    return null;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function summary({ name, starts }: Checkout): string {
  const ready = starts.map(({ readyMs }) => readyMs);
  const cpu = starts.flatMap(({ cpuMs }) => cpuMs ?? []);
  const figures = [median(ready), Math.min(...ready), Math.max(...ready), median(cpu)];
  return `${name.padEnd(10)}${figures.map((ms) => ms.toFixed(0).padStart(9)).join('')}\n`;
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
}

/** A profile as V8 writes it; times in microseconds. */
interface Profile {
  readonly nodes: readonly { id: number; callFrame: CallFrame; children?: readonly number[] }[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Files that only one kind of thread loads. */
const THREADS: readonly (readonly [string, string])[] = [
  ['suite worker', '/threads/suite-worker.ts'],
  ['key worker', '/threads/key-thread.ts'],
  ['log worker', '/threads/log-worker.ts'],
  ['statistics worker', '/threads/statistics-worker.ts'],
  ['main thread', '/src/main.ts'],
];

/** Phases by the function and the file that run them. */
const PHASES: readonly (readonly [string, string, string])[] = [
  ['ledger and secret', 'prepareLedger', '/ledger-start.ts'],
  ['log prepared', 'prepareLog', '/prepare.ts'],
  ['application built', 'buildListeners', '/listeners.ts'],
  ['schemas compiled', 'prepare', '/validators.ts'],
  ['listening', 'openListeners', '/listeners.ts'],
  ['known answers', 'requireSelfTests', '/self-test.ts'],
  ['suite, twelve times', 'requireSuiteSelfTest', '/self-test.ts'],
  ['sealing', 'requireSealSelfTest', '/seal-self-test.ts'],
  ['store opened', 'openStore', '/open.ts'],
  ['DRBG', 'start', '/keys/generator.ts'],
  ['stream screened', 'screenLiveCarrier', '/self-test.ts'],
  ['first evidence', 'judge', '/sample-suite.ts'],
];

const MODULES = 'modules';

function phaseOf({ functionName, url }: CallFrame): string | undefined {
  if (/^node:internal\/modules\//.test(url)) return MODULES;
  return PHASES.find(([, name, file]) => functionName === name && url.endsWith(file))?.[0];
}

interface Phase {
  beginUs: number;
  endUs: number;
  busyUs: number;
}

/** Returns the phases of a thread: first and last sample of each, and its samples in all. */
function phasesOf({ nodes, startTime, samples, timeDeltas }: Profile): Map<string, Phase> {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((c) => [c, id])));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const phases = new Map<string, Phase>();
  let atUs = startTime;
  for (const [i, sample] of samples.entries()) {
    const tookUs = timeDeltas[i] ?? 0;
    atUs += tookUs;
    const names = new Set<string>();
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const name = phaseOf(frames.get(id) as CallFrame);
      // A thread's work begins within the evaluation of its first module.
      if (name && (name !== MODULES || names.size === 0)) names.add(name);
    }
    for (const name of names) {
      const phase = phases.get(name) ?? { beginUs: atUs - tookUs, endUs: atUs, busyUs: 0 };
      phases.set(name, { ...phase, endUs: atUs, busyUs: phase.busyUs + tookUs });
    }
  }
  return phases;
}

function threadOf({ nodes }: Profile): string {
  const files = new Set(nodes.map(({ callFrame }) => callFrame.url));
  const isOf = (file: string) => [...files].some((url) => url.endsWith(file));
  return THREADS.find(([, file]) => isOf(file))?.[0] ?? 'another thread';
}

/** Starts a server with a profile of each thread, and returns the phases as text. */
async function profiled(checkout: Checkout, folder: string): Promise<string> {
  await start(checkout, ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', folder]);
  const profiles = readdirSync(folder)
    .map((file): Profile => JSON.parse(readFileSync(join(folder, file), 'utf8')))
    .toSorted((a, b) => a.startTime - b.startTime);
  const originUs = profiles[0]?.startTime ?? 0;
  const ms = (us: number) => (us / 1000).toFixed(0).padStart(7);
  const lines = profiles.flatMap((profile) => [
    `${threadOf(profile).padEnd(24)}${ms(profile.startTime - originUs)}\n`,
    ...[...phasesOf(profile)].map(
      ([name, { beginUs, endUs, busyUs }]) =>
        `  ${name.padEnd(22)}${ms(beginUs - originUs)}${ms(endUs - originUs)}${ms(busyUs)}\n`,
    ),
  ]);
  return `\n${'phase'.padEnd(24)}  begin    end   busy (ms)\n${lines.join('')}`;
}

const { values } = parseArgs({
  options: {
    starts: { type: 'string', default: '9' },
    against: { type: 'string' },
    profile: { type: 'boolean', default: false },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'phm-bench-start-'));
const checkoutAt = (name: string, root: string): Checkout => {
  return { name, root: resolve(root), dataDir: join(folder, name), starts: [] };
};
const here = checkoutAt('here', ROOT);
const checkouts = [...(values.against ? [checkoutAt('against', values.against)] : []), here];
try {
  for (const checkout of checkouts) for (let i = 0; i < WARM_UP; i++) await start(checkout);
  for (let i = 0; i < Number(values.starts); i++) {
    for (const checkout of checkouts) checkout.starts.push(await start(checkout));
  }
  process.stdout.write('ms          ready      min      max      CPU\n');
  process.stdout.write(checkouts.map(summary).join(''));
  if (values.profile) process.stdout.write(await profiled(here, join(folder, 'profiles')));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Measures the resident memory of the server, idle and under load, beside its floor: a bare Fastify route in the same
 * Node, with as many empty threads as the server has.
 *
 *   node bench/memory.ts [--against DIR] [--seconds N] [--connections N] [--rounds N] [--data-dir D] [--save]
 *
 * `--against` also measures another built checkout. Each round starts every program anew, one at a time, lets it wait until
 * its threads have collected what their start left, and loads it: plain keys over `--connections` connections, then
 * validated keys over eight, each for `--seconds`. `loaded` is the most that any look in between found. A last server says
 * what each thread holds; what watches it there takes some memory, so it has no part in the other figures. Linux only.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { drive } from './drive.ts';
import {
  addAccount,
  PLAIN,
  PROGRAM,
  programOf,
  serverEnvironment,
  startBare,
  startServer,
  stopTarget,
  type Target,
  WITH_EVIDENCE,
} from './load.ts';
import { machine, median } from './results.ts';
import {
  type Finding,
  type LoadOptions,
  loadArguments,
  runBenchmark,
  toLoadOptions,
} from './run.ts';
import type { ThreadReport } from './server-watch.ts';

const PATH = '/api/v2/generate';
const EVIDENCE_CONNECTIONS = 8;

/** Key worker, log worker and a suite worker for each core. Nothing here starts the statistics worker. */
const THREADS = 2 + availableParallelism();

/** A thread collects after five seconds of which it worked little: at least once in this time. */
const IDLE_MS = 12_000;

/** Time between two looks at a loaded server. */
const LOOK_MS = 250;

interface Resident {
  readonly idleMiB: number;
  readonly anonymousMiB: number;
  /** NaN for the floor. */
  readonly loadedMiB: number;
}

interface Candidate {
  readonly name: string;
  /** Null for the floor. */
  readonly program: string | null;
  readonly rounds: Resident[];
}

/** Returns the MiB of a process that are in memory, and those of them that no file backs. */
function residentMiB({ pid }: Target): { all: number; anonymous: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const field = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024;
  return { all: field('Rss'), anonymous: field('Anonymous') };
}

/** Loads a server with plain keys and then with validated ones; returns the most MiB that it had. */
async function loadedMiB(server: Target, { seconds, connections }: LoadOptions): Promise<number> {
  let most = 0;
  let isOver = false;
  const watching = (async () => {
    for (; !isOver; await delay(LOOK_MS)) most = Math.max(most, residentMiB(server).all);
  })();
  const loads = [
    { path: PATH, body: PLAIN, connections },
    { path: PATH, body: WITH_EVIDENCE, connections: EVIDENCE_CONNECTIONS },
  ];
  try {
    for (const load of loads) {
      const { problems } = await drive(server, load, seconds);
      if (problems.length > 0) throw new Error(problems.join('; '));
    }
  } finally {
    isOver = true;
    await watching;
  }
  return most;
}

class Memory {
  readonly #options: LoadOptions;
  readonly #folder: string;
  #starts = 0;

  constructor(options: LoadOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
  }

  async measure({ program }: Candidate): Promise<Resident> {
    const server = await this.#server(program ?? PROGRAM);
    const isFloor = program === null;
    const target = isFloor
      ? await startBare(server, join(this.#folder, 'bare-log'), THREADS)
      : server;
    if (isFloor) await stopTarget(server);
    await delay(IDLE_MS);
    const { all, anonymous } = residentMiB(target);
    const most = isFloor ? Number.NaN : await loadedMiB(target, this.#options);
    await stopTarget(target);
    return { idleMiB: all, anonymousMiB: anonymous, loadedMiB: most };
  }

  async #server(program: string, isWatched = false): Promise<Target> {
    this.#starts += 1;
    const env = serverEnvironment(join(this.#folder, `data-${this.#starts}`));
    const log = join(this.#folder, `log-${this.#starts}`);
    return startServer(env, addAccount(env, program), log, { program, isWatched });
  }

  /** Returns what the threads of a server hold, idle and after a load. */
  async threads(): Promise<readonly (readonly ThreadReport[])[]> {
    const server = await this.#server(PROGRAM, true);
    await delay(IDLE_MS);
    const idle = (await server.watch?.report()) ?? [];
    await loadedMiB(server, this.#options);
    const loaded = (await server.watch?.report()) ?? [];
    await stopTarget(server);
    return [idle, loaded];
  }
}

const column = (value: number): string =>
  (Number.isNaN(value) ? '-' : value.toFixed(0)).padStart(12);

function lineOf({ name, rounds }: Candidate, floor: readonly Resident[]): string {
  const idle = median(rounds.map((one) => one.idleMiB));
  const loaded = median(rounds.map((one) => one.loadedMiB));
  const above = (figure: keyof Resident) =>
    median(rounds.map((one, i) => one[figure] - (floor[i]?.idleMiB ?? Number.NaN)));
  const figures = [idle, median(rounds.map((one) => one.anonymousMiB)), above('idleMiB')];
  return name.padEnd(28) + [...figures, loaded, above('loadedMiB')].map(column).join('');
}

function threadLine(one: ThreadReport): string {
  const { usedMiB, committedMiB, youngMiB, externalMiB, codeMiB } = one.memory;
  const figures = [usedMiB, committedMiB, youngMiB, externalMiB, codeMiB];
  return one.thread.padEnd(28) + figures.map((mib) => mib.toFixed(1).padStart(12)).join('');
}

async function run(options: LoadOptions, against: string | null, folder: string): Promise<Finding> {
  const memory = new Memory(options, folder);
  const floor: Candidate = {
    name: `bare route, ${THREADS} empty threads`,
    program: null,
    rounds: [],
  };
  const candidates: Candidate[] = [floor, { name: 'server', program: PROGRAM, rounds: [] }];
  if (against !== null) {
    candidates.push({ name: 'server, other', program: programOf(against), rounds: [] });
  }
  for (let i = 0; i < options.rounds; i++) {
    for (const one of candidates) one.rounds.push(await memory.measure(one));
    process.stderr.write(`round ${i + 1} of ${options.rounds}\n`);
  }
  const [idle = [], loaded = []] = await memory.threads();
  const heading = (what: string) =>
    `${what.padEnd(28)}   heap used   committed   of it new    external        code`;
  const lines = [
    machine(),
    `${options.rounds} rounds, each program started anew; waits and loads of ${options.seconds} s, ${options.connections} connections`,
    '',
    `MiB                                 idle   anonymous above floor      loaded above floor`,
    ...candidates.map((one) => lineOf(one, floor.rounds)),
    '',
    heading('threads when idle, MiB'),
    ...idle.map(threadLine),
    '',
    heading('after the load, MiB'),
    ...loaded.map(threadLine),
    '',
    'Medians of the rounds. anonymous: the part that no file backs. loaded: the most while under load.',
  ];
  return { text: `${lines.join('\n')}\n`, sound: true };
}

const { values } = parseArgs({
  options: {
    ...loadArguments({ connections: '64', rounds: '5' }),
    against: { type: 'string' },
  },
});
const options = toLoadOptions(values);
await runBenchmark('memory', options, (folder) => run(options, values.against ?? null, folder));

/**
 * Benchmark against other implementations of SP 800-22: processor time of one sequence of 2^20 bits under all tests,
 * on one core.
 *
 *   node bench/peers.ts FOLDER [--build] [--core 0] [--rounds 3] [--save]
 *
 * With `--build`, it gets the sources with git, builds them in FOLDER and measures nothing; source that lies in FOLDER
 * under the name of a peer is used as it is. A peer that cannot be had is skipped, and the reason printed.
 *
 * Each program runs twice on the same file, pinned to one core: with one sequence and with some more. The difference,
 * divided by their number, is the time of a sequence without the start of the process. All run with NIST's default
 * parameters, except that arcetri/sts has a block length of 16,384 for block frequency, and this project tests both
 * that length and NIST's.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPeer, type Command, PEERS, type Peer, SEQUENCE_BITS } from './peers-build.ts';
import { machine, median, saveResult } from './results.ts';

const SEQUENCE_BYTES = SEQUENCE_BITS / 8;

const ROOT = resolve(import.meta.dirname, '..');

type Candidate = Omit<Peer, 'source'>;

const OURS: Candidate = {
  name: 'phm',
  about: 'this project, phm assess --threads 1',
  sequences: 400,
  command: (_, file, sequences) => ({
    cwd: ROOT,
    words: [
      ...[process.execPath, 'src/main.mjs', 'assess', file, '--threads', '1'],
      ...['--bits', `${SEQUENCE_BITS}`, '--sequences', `${sequences}`],
    ],
  }),
};

interface Run {
  readonly file: string;
  readonly core: string;
  readonly rounds: number;
}

interface Timed {
  readonly about: string;
  readonly milliseconds: number;
}

/** Returns the seconds of user and system time of a command on one core. Throws if it fails. */
function processorTime(core: string, { words, cwd, input = '' }: Command): number {
  const script = 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1';
  const pinned = ['--cpu-list', core, 'bash', '-c', script, 'bash', ...words];
  const { status, stderr } = spawnSync('taskset', pinned, { cwd, input, encoding: 'utf8' });
  // NIST's program ends with exit code 1.
  if (status !== 0 && status !== 1) throw new Error(`${words[0]} exits with code ${status}`);
  const [user, system] = stderr.trim().split(' ').map(Number);
  return user + system;
}

function timeOf({ sequences, about, command }: Candidate, folder: string, run: Run): Timed {
  const seconds = (count: number): number =>
    processorTime(run.core, command(folder, run.file, count));
  const differences = Array.from({ length: run.rounds }, () => seconds(1 + sequences) - seconds(1));
  return { about, milliseconds: (1000 * median(differences)) / sequences };
}

/** Writes the sequences, and each beginning of them that a peer reads as a file of its own. */
function writeSequences(folder: string, peers: readonly Candidate[]): string {
  const file = join(folder, 'bits');
  const bytes = randomBytes(SEQUENCE_BYTES * (1 + Math.max(...peers.map((p) => p.sequences))));
  writeFileSync(file, bytes);
  for (const sequences of new Set(peers.flatMap((peer) => [1, 1 + peer.sequences]))) {
    writeFileSync(`${file}-${sequences}`, bytes.subarray(0, sequences * SEQUENCE_BYTES));
  }
  return file;
}

function measure(parent: string, core: string, rounds: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'peers-'));
  try {
    const present = PEERS.filter(({ name, source }) =>
      existsSync(join(parent, name, source.program)),
    );
    const absent = PEERS.filter((peer) => !present.includes(peer));
    const all = [...present, OURS];
    const file = writeSequences(folder, all);
    const timed = all.map((peer) => timeOf(peer, join(parent, peer.name), { file, core, rounds }));
    return [
      machine(),
      `one core; processor time of a sequence of 2^20 random bits under all tests; median of ${rounds} rounds`,
      '',
      ...table(timed),
      ...absent.map(({ about, name }) => `skipped: ${about} (not in the folder as ${name})`),
      '',
    ].join('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function table(timed: readonly Timed[]): string[] {
  const ours = timed[timed.length - 1].milliseconds;
  return timed.map(({ about, milliseconds }) => {
    const ratio = milliseconds / ours;
    return `${about.padEnd(60)}${milliseconds.toFixed(2).padStart(10)} ms${ratio.toFixed(ratio < 10 ? 1 : 0).padStart(8)}`;
  });
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    build: { type: 'boolean', default: false },
    core: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '3' },
    save: { type: 'boolean', default: false },
  },
});
const [given] = positionals;
if (given === undefined) {
  process.stderr.write(
    'usage: node bench/peers.ts FOLDER [--build] [--core 0] [--rounds 3] [--save]\n',
  );
  process.exit(2);
}
const parent = resolve(given);
if (values.build) {
  for (const peer of PEERS) {
    const fault = buildPeer(peer, parent);
    process.stdout.write(`${peer.about}: ${fault === null ? 'built' : `skipped, ${fault}`}\n`);
  }
} else {
  const text = measure(parent, values.core, Number(values.rounds));
  process.stdout.write(text);
  if (values.save) saveResult('peers', text);
}

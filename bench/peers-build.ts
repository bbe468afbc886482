/** Gets and builds other implementations of SP 800-22 for `bench/peers.ts`. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Peer {
  /** Its name, which is also that of its folder. */
  readonly name: string;
  /** Where it comes from, and how it is built. */
  readonly about: string;
  /** Sequences between the two runs that are timed: about two seconds. */
  readonly sequences: number;
  readonly command: TestCommand;
  readonly source: Source;
}

/** Returns the command that tests the first sequences of a file with all tests. */
type TestCommand = (folder: string, file: string, sequences: number) => Command;

export interface Command {
  readonly words: readonly string[];
  /** Working folder. */
  readonly cwd: string;
  /** Standard input. */
  readonly input?: string;
}

interface Source {
  readonly url: string;
  readonly commit: string;
  readonly needs: readonly string[];
  /** Shell commands. */
  readonly build: string;
  readonly program: string;
}

export const SEQUENCE_BITS: number = 2 ** 20;

const TESTS_OF_NIST =
  'Frequency BlockFrequency Runs LongestRun Rank FFT NonOverlappingTemplate OverlappingTemplate Universal LinearComplexity Serial ApproximateEntropy CumulativeSums RandomExcursions RandomExcursionsVariant';

/** A copy of the program's version 2.1.2, which NIST publishes as an archive; this commit adds nothing. */
const NIST = {
  url: 'https://github.com/PeterKietzmann/sts-2.1.2',
  commit: 'd637e50',
  needs: ['gcc', 'make'],
  program: 'assess',
};

const FOLDERS = `for t in ${TESTS_OF_NIST}; do mkdir -p experiments/AlgorithmTesting/$t; done`;

/** The program asks for each choice: a file, all tests, default parameters, sequences, binary. */
const runNist: TestCommand = (folder, file, sequences) => ({
  words: ['./assess', `${SEQUENCE_BITS}`],
  cwd: folder,
  input: `0\n${file}\n1\n0\n${sequences}\n1\n`,
});

export const PEERS: readonly Peer[] = [
  {
    name: 'nist',
    about: 'NIST STS 2.1.2 as shipped (no optimisation)',
    sequences: 2,
    command: runNist,
    source: { ...NIST, build: `${FOLDERS}; mkdir -p obj; make CC=gcc` },
  },
  {
    name: 'nist-fast',
    about: 'NIST STS 2.1.2, gcc -O3 -march=native',
    sequences: 4,
    command: runNist,
    source: {
      ...NIST,
      build: `${FOLDERS}; gcc -O3 -march=native -Iinclude -o assess src/*.c -lm`,
    },
  },
  {
    name: 'arcetri',
    about: 'arcetri/sts, its Makefile (gcc -O3, FFTW)',
    sequences: 5,
    command: (folder, file, sequences) => ({
      cwd: join(folder, 'results'),
      words: [join(folder, 'src/sts'), '-T', '1', '-i', `${sequences}`, '-I', '1', '-s', file],
    }),
    source: {
      url: 'https://github.com/arcetri/sts',
      commit: '6c05f64',
      needs: ['cc', 'make'],
      build: 'mkdir -p results; make -C src sts',
      program: 'src/sts',
    },
  },
  {
    name: 'rust',
    about: 'riesinger-e/nist-sts, cargo build --release (x86-64-v3)',
    sequences: 10,
    command: (folder, file, sequences) => ({
      cwd: folder,
      // It tests every whole sequence of its input.
      words: [
        ...[join(folder, 'target/release/sts-cmd'), '--input', `${file}-${sequences}`],
        ...['--input-format', 'binary', '--max-length', `${SEQUENCE_BITS}`],
        ...['--split', '--no-console', '--output', join(folder, 'results/values.csv')],
      ],
    }),
    source: {
      url: 'https://github.com/riesinger-e/nist-sts',
      commit: '033ec99',
      needs: ['cargo'],
      build: 'mkdir -p results; cargo build --release --package sts-cmd',
      program: 'target/release/sts-cmd',
    },
  },
];

/** Builds a peer in `folder`, where its source may lie already. Returns why it cannot be had, or `null`. */
export function buildPeer({ name, source }: Peer, parent: string): string | null {
  const folder = join(parent, name);
  if (existsSync(join(folder, source.program))) return null;
  for (const tool of source.needs) {
    if (spawnSync('which', [tool]).status !== 0) return `${tool} is not installed`;
  }
  const fault = getSource(source, folder);
  if (fault !== null) return fault;
  const { status, stderr } = spawnSync('sh', ['-c', source.build], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status === 0 && existsSync(join(folder, source.program))) return null;
  return `it does not build: ${stderr.trim().split('\n').at(-1)}`;
}

function getSource({ url, commit }: Source, folder: string): string | null {
  if (existsSync(folder)) return null;
  mkdirSync(folder, { recursive: true });
  for (const words of [
    ['clone', '--quiet', url, folder],
    ['-C', folder, 'checkout', '--quiet', commit],
  ]) {
    const { status, stderr } = spawnSync('git', words, { encoding: 'utf8' });
    if (status !== 0) return `git ${words[0]} fails: ${stderr.trim().split('\n').at(-1)}`;
  }
  return null;
}

/** What each tool says of the first bytes of a generator. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { LongStreamTest } from '../../../sp800-22/src/index.ts';
import { type AssessSummary, assess } from '../../src/index-node.ts';

/** The verdict of a tool on one length. */
export interface Finding {
  readonly failed: boolean;
  /** The test with the smallest p-value, and that p-value as the tool writes it. */
  readonly test: string;
  readonly p: string;
}

type TestAndP = Pick<Finding, 'test' | 'p'>;

const SEQUENCE_BITS = 2 ** 20;

/** Runs this laboratory on sequences of 2^20 bits. */
export async function ofLaboratory(bytes: Uint8Array, thorough: boolean): Promise<Finding> {
  // Workers wipe what they get, and a reader copies only what it must.
  const { summary, failed } = await assess(Uint8Array.from(bytes), {
    format: 'binary',
    bits: SEQUENCE_BITS,
    workers: 0,
    thorough,
  });
  return { failed, ...smallestOf(summary) };
}

/** Returns the smallest p-value: of a long stream, of the supplements if these alone fail, else of the tests. */
function smallestOf({ longStreams, supplements, smallest }: AssessSummary): TestAndP {
  const ofSupplements = supplements?.verdict.passed === false ? supplements.smallest : undefined;
  const named = longStreams?.passed === false ? undefined : (ofSupplements ?? smallest);
  const tests: readonly LongStreamTest[] = longStreams?.tests ?? [];
  const least = named ?? tests.toSorted((a, b) => a.p - b.p).at(0);
  if (!least) return { test: '', p: '' };
  return { test: 'name' in least ? least.name : least.test, p: least.p.toExponential(0) };
}

/**
 * Runs `RNG_test stdin` of PractRand on these bytes, and returns what it finds in the first of each number of MiB. It ends at
 * its first failure. Its label FAIL is a failure.
 */
export function ofPractRand(
  program: string,
  bytes: Uint8Array,
  lengths: readonly number[],
): Record<number, Finding> {
  const least = Math.log2(lengths[0]) + 20;
  const most = Math.log2(bytes.length);
  const run = ['stdin', '-tlmin', `${least}`, '-tlmax', `${most}`];
  const options = { input: bytes, encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  const { stdout } = spawnSync(program, run, options);
  const parts = stdout.split(/^length= /m).slice(1);
  const findings = new Map(
    parts.map((part) => [2 ** Number(/\(2\^(\d+) bytes\)/.exec(part)?.[1]) / 2 ** 20, part]),
  );
  const failed = [...findings.keys()].find(
    (length) => practRandFinding(findings.get(length) ?? '').failed,
  );
  return Object.fromEntries(
    lengths.flatMap((length) => {
      // A failure between two lengths is one of the longer.
      const part = findings.get(failed !== undefined && failed < length ? failed : length);
      return part === undefined ? [] : [[length, practRandFinding(part)]];
    }),
  );
}

function practRandFinding(text: string): Finding {
  const found = text.split('\n').flatMap((line) => {
    const match = /^\s+(\S.*?)\s+R=\s*(\S+)\s+p\s*(?:~=|=)\s*(\S+)\s+(.*)$/.exec(line);
    return match ? [{ test: match[1], p: match[3], label: match[4] }] : [];
  });
  if (found.length === 0) return { failed: false, test: '', p: '' };
  const worst = found.reduce((one, other) => (toNumber(other.p) < toNumber(one.p) ? other : one));
  return {
    failed: found.some(({ label }) => label.startsWith('FAIL')),
    test: worst.test,
    p: worst.p,
  };
}

/** PractRand writes 1-3e-9 for a p-value near 1, and doubts both ends. */
function toNumber(p: string): number {
  return Number(p.replace(/^1-/, ''));
}

/** The tests of dieharder that read 64 MiB once at most, with so many samples (-p). */
const DIEHARDER_TESTS: readonly (readonly string[])[] = [
  ['-d', '0', '-p', '10'],
  ['-d', '1', '-p', '8'],
  ['-d', '2', '-p', '6'],
  ['-d', '3', '-p', '10'],
  ['-d', '4', '-p', '10'],
  ['-d', '8', '-p', '10'],
  ['-d', '9', '-p', '8'],
  ['-d', '10', '-p', '10'],
  ['-d', '11', '-p', '10'],
  ['-d', '12', '-p', '10'],
  ['-d', '15', '-p', '10'],
  ['-d', '100', '-p', '10'],
  ['-d', '101', '-p', '10'],
  ['-d', '102', '-p', '10'],
  ['-d', '200', '-n', '8', '-p', '5'],
  ['-d', '201', '-n', '3', '-p', '10'],
  ['-d', '202', '-n', '5', '-p', '10'],
  ['-d', '206', '-p', '1'],
];

const LIMIT_MS = 60_000;

/**
 * Runs a subset of dieharder on a file. Its label FAILED is a failure, but beside a p-value near 1: `sts_serial` with 10 samples
 * has one above 1 − 10^-6 in 4 of 10 sound streams (AES-256-CTR).
 */
export function ofDieharder(program: string, path: string, bytes: Uint8Array): Finding {
  writeFileSync(path, bytes);
  const found = DIEHARDER_TESTS.flatMap((test) => {
    const run = ['-g', '201', '-f', path, ...test];
    const { stdout } = spawnSync(program, run, { encoding: 'utf8', timeout: LIMIT_MS });
    return stdout.split('\n').flatMap((line) => {
      const cells = line.split('|').map((cell) => cell.trim());
      return cells.length === 6 && /PASSED|WEAK|FAILED/.test(cells[5])
        ? [{ test: cells[0], p: cells[4], label: cells[5] }]
        : [];
    });
  });
  if (found.length === 0) return { failed: false, test: '', p: '' };
  const { test, p, label } = found.reduce((one, other) =>
    Number(other.p) < Number(one.p) ? other : one,
  );
  return { failed: label === 'FAILED', test, p };
}

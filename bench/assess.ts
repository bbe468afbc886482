/**
 * Benchmark of `phm assess --threads 1` against the suite called in process: time of a sequence of 2^20 bits under all
 * tests. One core for both:
 *
 *   taskset --cpu-list 1 node bench/assess.ts [--output text|json|csv] [--sequences 64] [--rounds 16] [--save]
 *
 * Both sides run in this process and take turns, so that a change of the machine's speed meets both: a round judges
 * `--sequences` sequences by each side, in alternating order, and gives one ratio. The side of the command is its own
 * function, from the file to the text of its output; so the start of a process is not part of either. The first rounds,
 * in which the code is still being optimised, do not count.
 */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeOutput, type OutputKind } from '#lab';
import { runPackedSuite } from '#sp800-22';
import { assess } from '../packages/lab/src/commands/assess-file.ts';
import { machine, median, saveResult } from './results.ts';

const SEQUENCE_BITS = 2 ** 20;
const SEQUENCE_BYTES = SEQUENCE_BITS / 8;
const WARM_UP_ROUNDS = 4;

interface Times {
  readonly processor: number;
  readonly wall: number;
}

/** Milliseconds of a run, and the p-values that it made. */
async function timed(run: () => number | Promise<number>): Promise<Times & { pValues: number }> {
  const processor = process.cpuUsage();
  const from = performance.now();
  const pValues = await run();
  const wall = performance.now() - from;
  const { user, system } = process.cpuUsage(processor);
  return { pValues, processor: (user + system) / 1000, wall };
}

function inProcess(bytes: Uint8Array): number {
  let pValues = 0;
  for (let at = 0; at < bytes.length; at += SEQUENCE_BYTES) {
    const { tests } = runPackedSuite(bytes.subarray(at, at + SEQUENCE_BYTES));
    for (const test of tests) pValues += test.applicable ? test.pValues.length : 0;
  }
  return pValues;
}

async function commandLine(file: string, kind: OutputKind): Promise<number> {
  let length = 0;
  let pValues = 0;
  const written = makeOutput(kind, (text) => {
    length += text.length;
  });
  const output: typeof written = {
    add: (report) => {
      for (const test of report.tests) pValues += test.applicable ? test.pValues.length : 0;
      written.add(report);
    },
    end: (summary) => written.end(summary),
  };
  const options = { file, format: 'binary', constants: 'exact', bits: SEQUENCE_BITS } as const;
  await assess({ ...options, threads: 1 }, output);
  assert.ok(length > 0);
  return pValues;
}

async function measure(
  file: string,
  bytes: Uint8Array,
  kind: OutputKind,
  rounds: number,
): Promise<Times[][]> {
  const sides = [() => inProcess(bytes), () => commandLine(file, kind)];
  const all: Times[][] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    const times: (Times & { pValues: number })[] = [];
    for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) times[side] = await timed(sides[side]);
    assert.equal(times[0].pValues, times[1].pValues);
    if (round >= WARM_UP_ROUNDS) all.push(times);
  }
  return all;
}

function reportOf(all: readonly Times[][], sequences: number, kind: OutputKind): string {
  const names = ['runPackedSuite, in process', `phm assess --threads 1, ${kind}`];
  const lines = names.map((name, side) => {
    const figure = (kind: keyof Times): string =>
      `${(median(all.map((times) => times[side][kind])) / sequences).toFixed(3)} ms ${kind}`;
    return `${name.padEnd(34)}${figure('processor')}, ${figure('wall')}`;
  });
  const ratios = (['processor', 'wall'] as const).map((kind) => {
    const sorted = all.map(([base, ours]) => ours[kind] / base[kind]).sort((a, b) => a - b);
    const at = (part: number): string => sorted[Math.floor(part * (sorted.length - 1))].toFixed(3);
    return `ratio of ${kind} time: median ${median(sorted).toFixed(3)}, quartiles ${at(0.25)} and ${at(0.75)}`;
  });
  const what = `a sequence of 2^20 bits; medians of ${all.length} rounds of ${sequences} sequences`;
  return `${[machine(), what, '', ...lines, ...ratios].join('\n')}\n`;
}

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: 'text' },
    sequences: { type: 'string', default: '64' },
    rounds: { type: 'string', default: '16' },
    save: { type: 'boolean', default: false },
  },
});
const sequences = Number(values.sequences);
const kind = values.output as OutputKind;
const folder = mkdtempSync(join(tmpdir(), 'assess-'));
try {
  const bytes = randomBytes(SEQUENCE_BYTES * sequences);
  const file = join(folder, 'bits');
  writeFileSync(file, bytes);
  const times = await measure(file, bytes, kind, Number(values.rounds));
  const text = reportOf(times, sequences, kind);
  process.stdout.write(text);
  if (values.save) saveResult('assess', text);
} finally {
  rmSync(folder, { recursive: true });
}

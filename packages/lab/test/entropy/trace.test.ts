/** What makes a report of `phm-lab assess-entropy` traceable: its options, and an identification that covers every fact. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { aesBits, aesBytes } from '../../../../test/sp800-90b/ea-non-iid.ts';
import {
  type DecidingFlags,
  type EntropyInput,
  type EntropyOptions,
  entropyTrace,
  type TracedRun,
} from '../../src/entropy/trace.ts';
import { REPORT_FIELDS, type ReportFields } from '../../src/index-node.ts';
import { makeFolder, removeFolder, runCommand, SOFTWARE } from '../support/run-command.ts';

let folder: string;
before(() => {
  folder = makeFolder();
});
after(() => removeFolder(folder));

const INPUT: EntropyInput = {
  name: 'a.bin',
  size: 5_000,
  bytes: 4_000,
  bytes_sha256: 'a'.repeat(64),
  format: 'binary',
  samples: 2_000,
  sha256: 'b'.repeat(64),
  subset: { index: 1, samples: 2_000 },
  packed: false,
  program: 'phm 1',
  offset_bits: 8,
};

const FLAGS: Required<DecidingFlags> = {
  bitsPerSymbol: 4,
  truncate: true,
  conditioned: true,
  submitterEntropy: 3.5,
  iid: true,
  seed: '5eed',
  restart: true,
  initialEntropy: 3.25,
};

const RUN: TracedRun = {
  report: Object.fromEntries(REPORT_FIELDS.map(([name]) => [name, name])),
  input: INPUT,
  flags: FLAGS,
  build: 'build',
  created: 'now',
};

/** Another value of each member, one at a time. */
const OTHER_INPUTS: { readonly [K in keyof Required<EntropyInput>]: EntropyInput[K] } = {
  name: 'b.bin',
  size: null,
  bytes: 4_001,
  // The first digits are part of the identification as such.
  bytes_sha256: `${'a'.repeat(63)}b`,
  format: 'hex',
  samples: 1_999,
  sha256: 'c'.repeat(64),
  subset: { index: 0, samples: 2_000 },
  packed: true,
  program: 'phm 2',
  offset_bits: 16,
};

const OTHER_FLAGS: Required<DecidingFlags> = {
  bitsPerSymbol: 5,
  truncate: false,
  conditioned: false,
  submitterEntropy: 3.75,
  iid: false,
  seed: '5eee',
  restart: false,
  initialEntropy: 3,
};

/** Returns runs that differ from `RUN` in one member, each under its name. */
function otherRuns(): [name: string, run: TracedRun][] {
  const inputs = Object.entries(OTHER_INPUTS).map(([name, value]): [string, TracedRun] => [
    `input.${name}`,
    { ...RUN, input: { ...INPUT, [name]: value } },
  ]);
  const flags = Object.entries(OTHER_FLAGS).map(([name, value]): [string, TracedRun] => [
    `flags.${name}`,
    { ...RUN, flags: { ...FLAGS, [name]: value } },
  ]);
  const texts = REPORT_FIELDS.map(([name]): [string, TracedRun] => [
    `report.${name}`,
    { ...RUN, report: { ...RUN.report, [name]: 'another' } },
  ]);
  return [...inputs, ...flags, ...texts, ['build', { ...RUN, build: 'another' }]];
}

const idOf = (run: TracedRun): string => entropyTrace(run).report.id;

/** Runs the command, and returns its JSON and its text. */
async function assess(
  samples: Uint8Array,
  ...options: string[]
): Promise<{ json: Record<string, unknown>; text: string }> {
  const file = join(folder, 'samples.bin');
  writeFileSync(file, samples);
  const outputs: string[] = [];
  for (const form of [['--json'], []]) {
    const { code, stdout } = await runCommand(['assess-entropy', file, ...options, ...form]);
    assert.equal(code, 0);
    outputs.push(stdout);
  }
  return { json: JSON.parse(outputs[0]), text: outputs[1] };
}

const NO_OPTIONS: EntropyOptions = {
  bits_per_symbol: null,
  truncate: false,
  conditioned: false,
  submitter_entropy: null,
  iid: false,
  seed: null,
  restart: false,
  initial_entropy: null,
};

describe('the identification of an entropy report', () => {
  for (const [name, run] of otherRuns()) {
    it(`changes with ${name}`, () => assert.notEqual(idOf(run), idOf(RUN)));
  }

  it('does not change with the time, nor with a seed that makes no permutations', () => {
    assert.equal(idOf({ ...RUN, created: 'later' }), idOf(RUN));
    const unused = { ...FLAGS, iid: false };
    assert.equal(
      idOf({ ...RUN, flags: unused }),
      idOf({ ...RUN, flags: { ...unused, seed: '1' } }),
    );
  });

  it('begins with the digest of the bytes, and each change gives another one', () => {
    assert.match(idOf(RUN), /^a{12}-[0-9a-f]{8}$/);
    const ids = otherRuns().map(([, run]) => idOf(run));
    assert.equal(new Set(ids).size, ids.length);
  });
});

describe('the trace of an entropy report', () => {
  it('has the texts, the input, every option, the build and the time', () => {
    const { report, ...trace } = entropyTrace(RUN);
    const { id, ...texts } = report;
    assert.deepEqual(texts satisfies ReportFields, RUN.report);
    assert.deepEqual(trace, {
      input: INPUT,
      options: {
        bits_per_symbol: 4,
        truncate: true,
        conditioned: true,
        submitter_entropy: 3.5,
        iid: true,
        seed: '5eed',
        restart: true,
        initial_entropy: 3.25,
      },
      software: { build: 'build' },
      created: 'now',
    });
    assert.deepEqual(entropyTrace({ ...RUN, flags: {} }).options, NO_OPTIONS);
  });

  it('describes the input of a run without options', async () => {
    const samples = aesBytes().subarray(0, 600);
    const { json, text } = await assess(samples);
    const sha256 = createHash('sha256').update(samples).digest('hex');
    assert.deepEqual(json.input, {
      name: 'samples.bin',
      size: 600,
      bytes: 600,
      bytes_sha256: sha256,
      format: 'binary',
      samples: 600,
      sha256,
      subset: null,
      packed: false,
      program: SOFTWARE.program,
    });
    assert.deepEqual(json.options, NO_OPTIONS);
    assert.match(text, /^Bits per symbol +8, those of the greatest sample$/m);
    assert.match(text, /^Other options +none$/m);
  });

  it('has --conditioned, and the seed that was drawn for the permutations', async () => {
    const samples = aesBits().subarray(0, 1_000);
    const { json, text } = await assess(samples, '--iid', '--conditioned', '--threads', '1');
    const { permutation } = json.iid_tests as { permutation: { seed: string } };
    assert.match(permutation.seed, /^[0-9a-f]{32}$/);
    assert.equal(json.tested, 'bitstring');
    assert.match(text, /^Tests of the bit string, 1,000 bits \(SP 800-90B §3\.1\.5\.2\):$/m);
    const options = { ...NO_OPTIONS, iid: true, conditioned: true, seed: permutation.seed };
    assert.deepEqual(json.options, options);
    const [, drawn] =
      /^Other options +--conditioned --iid --seed ([0-9a-f]{32})$/m.exec(text) ?? [];
    assert.match(text, new RegExp(`, seed ${drawn}$`, 'm'));
  });

  it('has every option of the non-IID track', async () => {
    const samples = aesBytes().subarray(0, 600);
    const options = ['--truncate', '--submitter-entropy', '7.5', '--bits-per-symbol', '8'];
    const { json, text } = await assess(samples, ...options);
    const given = { bits_per_symbol: 8, truncate: true, submitter_entropy: 7.5 };
    assert.deepEqual(json.options, { ...NO_OPTIONS, ...given });
    assert.match(text, /^Bits per symbol +8\nOther options +--truncate --submitter-entropy 7\.5$/m);
    const packed = await assess(samples, '--packed');
    assert.deepEqual(packed.json.options, NO_OPTIONS);
    assert.equal((packed.json.input as EntropyInput).packed, true);
    assert.match(packed.text, /^Bits per symbol +1\nOther options +--packed$/m);
  });
});

/** `phm-lab assess-ais31` as users see it: stdout, stderr, exit code. The command runs in this process. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { aesStream, biasedStream } from '../../../../test/ais-20-31/reference.ts';
import { suiteIrn } from '../../../ais-20-31/src/index.ts';
import { aisReport } from '../../src/ais/report.ts';
import { MAXIMUM_BITS } from '../../src/index-node.ts';
import { makeFolder, removeFolder, runCommand, SOFTWARE } from '../support/run-command.ts';

const BIASED_BYTES = 980_000;

let folder: string;
let biased: string;
before(() => {
  folder = makeFolder();
  biased = join(folder, 'biased.bin');
  // One run of procedure B, and no repetition.
  writeFileSync(biased, biasedStream().subarray(0, BIASED_BYTES));
});
after(() => removeFolder(folder));

const phm = (...args: string[]) => runCommand(['assess-ais31', ...args]);
const phm2 = (...args: string[]) => phm('--edition', '2.0', ...args);

describe('phm-lab assess-ais31 --edition 2.0', () => {
  it('writes the tests of procedure B with figures, limits and the verdict', async () => {
    const { code, stdout, stderr } = await phm2(biased, '--procedure', 'B');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      /^Procedure B: undecided, and T6 on single bits FAILED: the input ends too early\n.*: 7,840,000 bits\n/,
    );
    assert.match(stdout, /^First run: 7,835,764 bits, 1 failed$/m);
    assert.match(stdout, /^T6 .* single bits .*deviation 0\.032450 +deviation < 0\.025 +FAILED$/m);
    assert.match(stdout, /^T8 .* bits per byte 7\.977698 +above 7\.976 +passed$/m);
    assert.match(stdout, /^Repetition, because one test failed: 0 bits, 0 failed before/m);
    assert.match(stdout, /It is no evaluation and\ndoes not show entropy/);
    assert.match(stdout, /^SHA-256 of the bytes read +[0-9a-f]{64}$/m);
  });

  it('exits with code 1 with --fail unless the procedure is passed, and writes JSON', async () => {
    const args = [
      'assess-ais31',
      biased,
      '--edition',
      '2.0',
      '--procedure',
      'B',
      '--fail',
      '--json',
    ];
    const { code, stdout } = await runCommand(args, { SOURCE_DATE_EPOCH: '1700000000' });
    assert.equal(code, 1);
    const { standard, edition, input, procedure, verdict, runs, width, ...trace } =
      JSON.parse(stdout);
    const { software, created } = trace;
    assert.deepEqual([standard, edition], ['AIS 20/31 version 2.0 (KS2011)', '2.0']);
    assert.deepEqual(input, {
      file: basename(biased),
      bits: 8 * BIASED_BYTES,
      size: BIASED_BYTES,
      bytes: BIASED_BYTES,
      sha256: createHash('sha256').update(readFileSync(biased)).digest('hex'),
      format: 'binary',
      program: SOFTWARE.program,
    });
    assert.deepEqual([software, created], [{ build: SOFTWARE.build }, '2023-11-14T22:13:20Z']);
    assert.deepEqual([procedure, verdict, runs.length, width], ['B', 'undecided', 2, undefined]);
    assert.deepEqual(runs[0].tests[0].statistics, { ones: 53_245, deviation: 0.03244999999999998 });
  });

  it('says that more input is unlikely to help on stuck noise, and names the failed test', async () => {
    const stuck = join(folder, 'stuck.bin');
    writeFileSync(stuck, new Uint8Array(60_000));
    const { stdout } = await phm2(stuck, '--procedure', 'B');
    assert.match(
      stdout,
      /^Procedure B: undecided, and T6 on single bits FAILED: step 2 stopped with 0 of 100,000 groups of 2 bits that begin with 1, in 190,000 groups \(0 in the last 100,000\): more input is unlikely to help\n/,
    );
    assert.match(stdout, /^First run: 100,000 bits, 1 failed; step 2 stopped with .* groups$/m);
    assert.doesNotMatch(stdout, /too early|bits ended/);
  });

  it('says how far step 4 came if the input ends too early', async () => {
    const short = join(folder, 'short.bin');
    writeFileSync(short, aesStream().subarray(0, 500_000));
    const { stdout } = await phm2(short, '--procedure', 'B');
    assert.match(
      stdout,
      /^Procedure B: undecided: the input ends too early; step 4 stopped with 71,\d{3} of 100,000 groups/,
    );
    const { runs } = JSON.parse((await phm2(short, '--procedure', 'B', '--json')).stdout);
    assert.match(runs[0].stopped, /^step 4 stopped with 71,/);
    assert.equal('reason' in runs[0], false);
  });

  it('says that the command reads no more if the longest input is too short', () => {
    const run = { tests: [], failed: 0, bits: 0, complete: false };
    const result = { procedure: 'B', verdict: 'undecided', runs: [run] } as const;
    const input = { bytes: 8_388_608, sha256: '', sizeBytes: undefined, format: 'binary' };
    const software = { program: 'phm 1', build: 'phm/1' };
    const facts = {
      file: 'a',
      width: 1,
      input,
      created: 'now',
      software,
    } as const;
    const headline = (bits: number): string | undefined =>
      aisReport(result, { ...facts, bits }).text[0]?.[0];
    assert.equal(
      headline(MAXIMUM_BITS),
      'Procedure B: undecided: more than the 67,108,864 bits that are read would be needed',
    );
    const shorter = headline(MAXIMUM_BITS - 1);
    assert.equal(shorter, 'Procedure B: undecided: the input ends too early');
  });

  it('says how many bits procedure A needs', async () => {
    const { code, stderr } = await phm2(biased, '--procedure', 'A');
    assert.equal(code, 1);
    assert.match(stderr, /contains 7,840,000 bits; procedure A needs 8,285,728, and twice that/);
  });

  it('says how many bits the first test of procedure B needs', async () => {
    const few = join(folder, 'few.bin');
    writeFileSync(few, readFileSync(biased).subarray(0, 12_499));
    const { code, stderr } = await phm2(few, '--procedure', 'B');
    assert.equal(code, 1);
    assert.match(stderr, /contains 99,992 bits; procedure B needs 100,000, and 7 million for a/);
  });

  it('wants a procedure, and a width only for A', async () => {
    const without = await phm2(biased);
    assert.equal(without.code, 2);
    assert.match(without.stderr, /--edition 2.0 has two procedures: add --procedure A or B/);
    const { code, stderr } = await phm2(biased, '--procedure', 'B', '--width', '8');
    assert.equal(code, 2);
    assert.match(stderr, /--width is for --procedure A: leave it out/);
    const wide = await phm2(biased, '--procedure', 'A', '--width', '257');
    assert.match(wide.stderr, /use a whole number from 1 to 256/);
  });
});

/** Bytes of a trial of T_irn. */
const TRIAL_BYTES = 255_000;

describe('phm-lab assess-ais31', () => {
  const write = (name: string, bytes: Uint8Array): string => {
    const file = join(folder, name);
    writeFileSync(file, bytes);
    return file;
  };
  /** Sound bits with zeros for T1 in the first trials. */
  const withFailures = (trials: number, bytes = 2 * TRIAL_BYTES): Uint8Array => {
    const stream = Buffer.from(aesStream().subarray(0, bytes));
    for (let i = 0; i < trials; i++) stream.fill(0, i * TRIAL_BYTES, i * TRIAL_BYTES + 2_500);
    return stream;
  };

  it('runs T_irn of edition 3.0, and names it', async () => {
    const file = write('sound.bin', aesStream());
    const { code, stdout, stderr } = await phm(file, '--fail');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^T_irn: passed\nsound\.bin: 4,080,000 bits\n/);
    assert.match(stdout, /^First trial: 2,040,000 bits, 0 failed$/m);
    assert.match(
      stdout,
      /^T1 +monobit +bits 1 to 20,000 +ones 9920 .*9,654 < ones < 10,346 +passed$/m,
    );
    assert.match(stdout, /^T3 +MultiMMC prediction +.*min entropy 0\.995236; correct 500365;/m);
    assert.match(stdout, /^T4 +LZ78Y prediction +.*min-entropy ≥ 0\.95 +passed$/m);
    assert.match(stdout, /AIS 20\/31 version 3\.0 \(PS2024, section 4\.6\)/);
    assert.match(stdout, /^Size +2500000 bytes\nBytes read +510000$/m);
  });

  it('writes the second trial of a stream, and its verdict', async () => {
    const { stdout, code } = await phm(write('once.bin', withFailures(1)), '--fail');
    assert.match(stdout, /^T_irn: passed\n/);
    assert.match(stdout, /^First trial: 2,040,000 bits, 1 failed$/m);
    assert.match(stdout, /^Second trial, because the first failed: 2,040,000 bits, 0 failed$/m);
    assert.equal(code, 0);
    const twice = await phm(write('twice.bin', withFailures(2)), '--fail');
    assert.match(twice.stdout, /^T_irn: FAILED\n/);
    assert.equal(twice.code, 1);
  });

  it('is undecided, and says what is missing, if the input ends before the second trial', async () => {
    const file = write('short-second.bin', withFailures(1, 2 * TRIAL_BYTES - 1));
    const { stdout, code } = await phm(file, '--fail');
    assert.match(
      stdout,
      /^T_irn: undecided, and T1 on bits 1 to 20,000 FAILED: the input ends too early; the second trial needs 2,040,000 bits, and 2,039,992 are left\n/,
    );
    assert.equal(code, 1);
  });

  it('writes JSON', async () => {
    const { stdout } = await phm(write('json.bin', withFailures(0)), '--json');
    const { standard, edition, suite, procedure, verdict, runs, width } = JSON.parse(stdout);
    assert.deepEqual(
      [standard, edition, suite, procedure, verdict, width],
      ['AIS 20/31 version 3.0 (PS2024)', '3.0', 'T_irn', undefined, 'passed', undefined],
    );
    assert.deepEqual(runs, suiteIrn(withFailures(0)).runs);
  });

  it('says how many bits a trial needs', async () => {
    const { code, stderr } = await phm(write('few-3.bin', withFailures(0, TRIAL_BYTES - 1)));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /contains 2,039,992 bits; a trial of edition 3\.0 needs 2,040,000, and as many again for a second trial/,
    );
    assert.match((await phm(write('empty.bin', new Uint8Array()))).stderr, /is empty/);
  });

  it('takes neither a procedure nor a width, and no other edition', async () => {
    const file = write('options.bin', withFailures(0));
    const procedure = await phm(file, '--procedure', 'A');
    assert.equal(procedure.code, 2);
    assert.match(procedure.stderr, /--procedure is for --edition 2\.0: add that, or leave it out/);
    assert.match((await phm(file, '--width', '8')).stderr, /--width is for --procedure A/);
    assert.match((await phm(file, '--edition', '2.35')).stderr, /Allowed choices are 3\.0, 2\.0/);
  });
});

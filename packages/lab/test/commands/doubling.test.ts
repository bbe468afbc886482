/** `phm-lab assess --doubling` as users see it, on short sequences. The command runs in this process. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { DOUBLING_ALPHA, levelAlpha } from '../../src/doubling/doubling.ts';
import {
  commandJson,
  makeFolder,
  removeFolder,
  runCommand,
  runCommandOn,
} from '../support/run-command.ts';

let folder: string;
before(() => {
  folder = makeFolder();
});
after(() => removeFolder(folder));

const FLAGS = ['--doubling', '--bits', '1000', '--threads', '1', '--test', 'frequency'];
const stream = (length: number): Buffer => aesCtr(Buffer.alloc(32, 5), length);

function write(name: string, content: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

interface DoublingJson {
  readonly most_bits: number;
  readonly levels: readonly {
    readonly sequences: number;
    readonly compared: number;
    readonly second_level: boolean;
    readonly failed: boolean;
    readonly findings: readonly { test: string; what: string }[];
  }[];
  readonly failed: boolean;
  readonly end: string;
  readonly input: { readonly bytes: number; readonly sha256: string };
}

const doubling = (file: string, ...flags: string[]) =>
  commandJson<DoublingJson>(['assess', file, ...FLAGS, ...flags] as string[]);

describe('the shares of α of the levels', () => {
  it('sum to α', () => {
    const shares = Array.from({ length: 1000 }, (_, level) => levelAlpha(level));
    const sum = shares.reduce((all, share) => all + share, 0);
    assert.ok(sum < DOUBLING_ALPHA && sum > 0.998 * DOUBLING_ALPHA);
  });
});

describe('phm-lab assess --doubling', () => {
  it('judges 1, 2, 4, … sequences and the rest of a file that ends between', async () => {
    const { levels, failed, end } = await doubling(write('sound.bin', stream(8800)));
    assert.deepEqual(
      levels.map(({ sequences }) => sequences),
      [1, 2, 4, 8, 16, 32, 64, 70],
    );
    // One test of each sequence; from 55 sequences on also two checks of its row.
    assert.deepEqual(
      levels.map(({ compared }) => compared),
      [1, 2, 4, 8, 16, 32, 66, 72],
    );
    assert.deepEqual([failed, end], [false, 'input']);
  });

  it('ends at the limit, and traces exactly the bytes of the sequences so far', async () => {
    const bytes = stream(8800);
    const file = write('limit.bin', bytes);
    const flags = ['--most-bits', '9000', '--offset', '8'];
    const { levels, end, input, most_bits } = await doubling(file, ...flags);
    assert.deepEqual([levels.length, end, most_bits], [4, 'limit', 9000]);
    const sha256 = createHash('sha256').update(bytes.subarray(0, 1001)).digest('hex');
    assert.deepEqual([input.bytes, input.sha256], [1001, sha256]);
  });

  it('ends at the first level that fails, with code 1 with --fail', async () => {
    const bytes = Buffer.concat([stream(500), Buffer.alloc(500)]);
    const { levels, failed, end } = await doubling(write('zeros.bin', bytes));
    assert.deepEqual([levels.length, failed, end], [4, true, 'failure']);
    const [first] = levels[3].findings;
    assert.deepEqual([first.test, first.what], ['frequency', 'sequence 5']);
    const { code, stdout } = await runCommandOn(bytes, ['assess', '-', ...FLAGS, '--fail']);
    assert.equal(code, 1);
    assert.match(stdout, /^ +8,000 +8 +8 +1.44e-218 +5.00e-4 {2}frequency, sequence 5$/m);
    assert.match(stdout, /^ {2}FAILED frequency, sequence 5: p = 1.80e-219$/m);
    assert.match(stdout, /^FAILED at 8,000 bits\. About 1 % of sound sources fail, or fewer\.$/m);
    assert.match(stdout, /^SHA-256 of the bytes read +[0-9a-f]{64}$/m);
  });

  it('fails runs that are not carried out because the share of ones is off', async () => {
    const file = write('runs.bin', Buffer.alloc(1000));
    const flags = ['--doubling', '--bits', '1000', '--test', 'runs', '--fail'];
    const { code, stdout } = await runCommand(['assess', file, ...flags]);
    assert.equal(code, 1);
    assert.match(stdout, /^ {2}FAILED runs, sequence 1: p = [0-9.]+e-21\d$/m);
  });

  it('finds by the second level what no sequence shows', async () => {
    // 500 ones in each sequence: every p-value is 1.
    const { levels, end } = await doubling(write('even.bin', Buffer.alloc(125 * 64, 0x55)));
    assert.deepEqual([levels.length, end], [7, 'failure']);
    assert.deepEqual(
      levels.map(({ second_level }) => second_level),
      [false, false, false, false, false, false, true],
    );
    assert.match(levels[6].findings[0].what, /^uniformity of 64 p-values$/);
  });

  it('says when the input ended', async () => {
    const { code, stdout } = await runCommandOn(stream(300), ['assess', '-', ...FLAGS]);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^No failure up to 2,000 bits\. The input ended before 4,000 bits\. About 1 %/m,
    );
    // Five sequences: the last level is cut, and should have had eight.
    const five = await runCommandOn(stream(625), ['assess', '-', ...FLAGS]);
    assert.match(
      five.stdout,
      /^No failure up to 5,000 bits\. The input ended before 8,000 bits\./m,
    );
  });

  it('refuses options that it does not use, and too short an input', async () => {
    const file = write('short.bin', stream(100));
    for (const [flags, words] of [
      [['--doubling', '--csv'], /'--doubling' cannot be used with option '--csv'/],
      [['--doubling', '--test', 'spectral_peak'], /judges the tests of SP 800-22 only/],
      [['--doubling', '--test', 'random_excursions'], /does not compare random_excursions of a/],
      [['--most-bits', '9000'], /--most-bits needs --doubling/],
      [['--doubling', '--most-bits', '9000'], /--most-bits needs at least 1048576, one sequence/],
    ] as const) {
      const { code, stderr } = await runCommand(['assess', file, ...flags]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, words);
    }
    const { code, stderr } = await runCommand(['assess', file, '--doubling']);
    assert.equal(code, 1);
    assert.match(stderr, /contains 800 bits, fewer than --bits 1048576/);
  });
});

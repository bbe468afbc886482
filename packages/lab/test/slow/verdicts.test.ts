/** Verdicts of `phm-lab assess` where the second level cannot judge all: few sequences, very many, and other parameters. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { commandJson, makeFolder, removeFolder, runCommand } from '../support/run-command.ts';

const stream = (length: number): Buffer => aesCtr(Buffer.alloc(32, 9), length);

let folder = '';
before(() => {
  folder = makeFolder();
});
after(() => removeFolder(folder));

function write(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const assess = (file: string, ...flags: string[]) =>
  runCommand(['assess', file, '--sequences', 'all', '--threads', '1', '--fail', ...flags]);

/** The summary of a JSON report, as far as these tests read it. */
interface Summary {
  readonly passed: boolean | null;
  readonly smallest: object;
  readonly verdict: {
    readonly parts: readonly { name: string; judged: boolean; passed?: boolean; found?: object }[];
  };
}

type Part = Summary['verdict']['parts'][number];

function partOf({ parts }: Summary['verdict'], name: string): Part {
  const part = parts.find((one) => one.name === name);
  assert.ok(part);
  return part;
}

async function summaryOf(file: string, bits: number): Promise<Summary> {
  const flags = ['--bits', String(bits), '--sequences', 'all', '--threads', '1'];
  return (await commandJson<{ summary: Summary }>(['assess', file, ...flags])).summary;
}

/** Returns a sound file whose last sequences are zeros. */
function deadFile(bits: number, sequences: number, dead: number): string {
  const bytes = stream((bits / 8) * sequences);
  bytes.fill(0, (bits / 8) * (sequences - dead));
  return write(`dead-${dead}-of-${sequences}.bin`, bytes);
}

describe('phm-lab assess --fail on a sound file with dead sequences', () => {
  for (const [bits, sequences, dead] of [
    [100_000, 1, 1],
    [10_000, 54, 1],
    [16_384, 55, 1],
    [131_072, 200, 1],
    [16_384, 1000, 1],
    [16_384, 1000, 10],
    [128, 1000, 1],
  ] as const) {
    it(`fails ${dead} of ${sequences} sequences of ${bits} bits, and names the first of them`, async () => {
      const file = deadFile(bits, sequences, dead);
      const { code, stdout } = await assess(file, '--bits', String(bits));
      assert.equal(code, 1);
      const number = sequences - dead + 1;
      const from = (number - 1) * bits;
      const [first, last] = [from, from + bits - 1].map((bit) => bit.toLocaleString('en'));
      assert.match(stdout, /^Source: FAILED\.$/m);
      assert.match(
        stdout,
        new RegExp(
          `^Smallest p-value: .*, sequence ${number.toLocaleString('en')}, bits ${first} to ${last} of the input\\.$`,
          'm',
        ),
      );
    });
  }

  it('passes the same file without a dead sequence, at each of these sizes', async () => {
    for (const [bits, sequences] of [
      [100_000, 1],
      [10_000, 54],
      [16_384, 55],
      [131_072, 200],
      [16_384, 1000],
      [128, 1000],
    ] as const) {
      const { code, stdout } = await assess(deadFile(bits, sequences, 0), '--bits', String(bits));
      assert.equal(code, 0, stdout);
      assert.match(stdout, /^Source: passed\.$/m);
    }
  });
});

describe('the smallest p-value of phm-lab assess', () => {
  it('has its test, sequence and place in text, JSON, CSV and the page', async () => {
    const bits = 10_000;
    const file = deadFile(bits, 60, 2);
    const page = join(folder, 'smallest.html');
    const flags = ['--bits', String(bits), '--offset', '80', '--html', page];
    const text = (await assess(file, ...flags)).stdout;
    const csv = (await assess(file, '--bits', String(bits), '--offset', '80', '--csv')).stdout;
    // The second but last sequence is the first dead one, and the last one of 59 behind 80 bits.
    const place = 'sequence 59, bits 580,080 to 590,079 of the input';
    assert.match(text, new RegExp(`^Smallest p-value: \\S+, .*, ${place}\\.$`, 'm'));
    assert.match(csv, new RegExp(`^# Smallest p-value,".*, ${place}\\."$`, 'm'));
    assert.match(readFileSync(page, 'utf8'), new RegExp(`Smallest p-value: .*, ${place}\\.`));
    const { smallest } = await summaryOf(file, bits);
    assert.deepEqual(
      { ...smallest, p: 0, test: '', index: 0, label: '' },
      {
        ...{ test: '', index: 0, label: '', p: 0 },
        ...{ sequence: 59, offset_bits: 580_000, bits: 10_000 },
      },
    );
  });

  it('stands beside no tick on the page if a part failed by it', async () => {
    const page = join(folder, 'ticks.html');
    await assess(deadFile(10_000, 60, 1), '--bits', '10000', '--html', page);
    const html = readFileSync(page, 'utf8');
    assert.match(html, /✗<\/span>Source: FAILED<\/h2>/);
    for (const row of html.split('<tr>').filter((one) => /class="number">0<\/td>/.test(one))) {
      assert.doesNotMatch(row, /✓/);
    }
  });
});

describe('phm-lab assess on a piece of another source, a restart and a drift', () => {
  it('finds a text header in one of 60 sequences of 2^17 bits, and says where it is', async () => {
    const bytes = stream(60 * 16_384);
    bytes.write('Model TRNG-7, firmware 1.2.3, captured 2026-11-29. '.repeat(11).slice(0, 512));
    const { passed, verdict } = await summaryOf(write('header.bin', bytes), 2 ** 17);
    const scan = partOf(verdict, 'scan');
    assert.deepEqual([passed, scan.passed], [false, false]);
    const { sequence, piece } = scan.found as { sequence: number; piece: object };
    assert.deepEqual(
      [sequence, { ...piece, measure: '' }],
      [1, { measure: '', from: 0, bits: 4096, count: 0, trials: 512 }],
    );
  });

  it('finds a generator that starts again in the middle', async () => {
    const half = stream(100 * 2048);
    const file = write('restart.bin', Buffer.concat([half, half]));
    const { passed, verdict } = await summaryOf(file, 16_384);
    const repeats = partOf(verdict, 'repeats');
    assert.deepEqual([passed, repeats.passed], [false, false]);
    const { sequence, earlier_sequence } = repeats.found as Record<string, number>;
    assert.equal(sequence - earlier_sequence, 100);
  });

  it('finds a bias that no sequence shows: 50.3 % ones in 200 sequences', async () => {
    const bytes = stream(200 * 2048);
    // A byte in 21 gets one of its eight bits set: of these half were zeros.
    const noise = aesCtr(Buffer.alloc(32, 10), 2 * bytes.length);
    for (let i = 0; i < bytes.length; i++) {
      if (noise[2 * i] < 12) bytes[i] |= 1 << (noise[2 * i + 1] & 7);
    }
    const { passed, verdict } = await summaryOf(write('bias.bin', bytes), 16_384);
    assert.equal(passed, false);
    assert.equal(partOf(verdict, 'walks').passed, false);
  });
});

describe('phm-lab assess --fail on one sequence', () => {
  it('does not fail a source whose only sequence fails one test at 1 %', async () => {
    // Sequence 10 of this stream fails frequency and cumulative_sums: p = 0.004 and 0.003.
    const file = write('one.bin', stream(10 * 125).subarray(9 * 125));
    const { code, stdout } = await assess(file, '--bits', '1000');
    assert.match(stdout, /^Failed: /m);
    assert.match(stdout, /^Source: passed\.$/m);
    assert.equal(code, 0);
  });
});

describe('phm-lab assess on more sequences than a distribution is known for', () => {
  const FLAGS = ['--bits', '128', '--test', 'longest_run'];

  it('fails a source whose every sequence fails', async () => {
    const { code, stdout } = await assess(write('zeros.bin', Buffer.alloc(16 * 1400)), ...FLAGS);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /As of 1,300 sequences, with counts in proportion: proportion of longest_run/,
    );
  });

  it('passes a sound one', async () => {
    const { code } = await assess(write('many.bin', stream(16 * 1400)), ...FLAGS);
    assert.equal(code, 0);
  });
});

describe('phm-lab assess with a parameter for which no distribution was measured', () => {
  for (const [flag, value, bits] of [
    ['--serial-m', '2', 100],
    ['--approximate-entropy-m', '1', 128],
  ] as const) {
    it(`does not judge the rows of ${flag} ${value}, and says why`, async () => {
      const file = write('short.bin', stream((1000 * bits) / 8));
      const { code, stdout } = await assess(file, '--bits', String(bits), flag, value);
      assert.equal(code, 0, stdout);
      assert.match(stdout, new RegExp(`known for m = \\d+ only, got ${value}`));
    });
  }
});

describe('the headline of the page', () => {
  async function headline(file: string, ...flags: string[]): Promise<string> {
    const page = join(folder, 'page.html');
    await assess(file, ...flags, '--html', page);
    const [, title = ''] =
      /<h2><span class="sign"[^>]*>(.*?)<\/h2>/.exec(readFileSync(page, 'utf8')) ?? [];
    return title.replace('</span>', ' ');
  }

  it('says FAILED if only the supplements fail', async () => {
    // Every sequence repeats its first half: the lag of 5,120 bits.
    const parts = Array.from({ length: 60 }, (_, i) => {
      const half = aesCtr(Buffer.alloc(32, i), 640);
      return Buffer.concat([half, half]);
    });
    const file = write('copies.bin', Buffer.concat(parts));
    const supplements = ['--bits', '10240', '--supplements', '--test', 'frequency'];
    assert.match(
      await headline(file, ...supplements),
      /^✗ Source: FAILED \(tests passed, supplements FAILED\)$/,
    );
    const alone = ['--bits', '10240', '--test', 'autocorrelation'];
    assert.match(await headline(file, ...alone), /^✗ Source: FAILED \(supplements FAILED\)$/);
  });

  it('shows no test if only supplements were run, of any number of sequences', async () => {
    const file = write('repeats.bin', Buffer.alloc(12_800, 'a period of 16 b'));
    const alone = ['--format', 'binary', '--bits', '10240', '--test', 'autocorrelation'];
    assert.equal(await headline(file, ...alone), '✗ Source: FAILED (supplements FAILED)');
    const page = join(folder, 'sole.html');
    const sole = await runCommand(['assess', file, '--fail', ...alone, '--html', page]);
    const html = readFileSync(page, 'utf8');
    assert.equal(sole.code, 1);
    const title = 'Supplements, not part of SP 800-22: 10,240 bits';
    const [text, trace] = sole.stdout.split('\nReport ');
    assert.match(
      text,
      new RegExp(
        `^${title}\n\nSource: FAILED \\(supplements FAILED\\)\\.\n\nSupplements, not part of SP 800-22:\nsupplement `,
      ),
    );
    assert.doesNotMatch(text, /SP 800-22 Rev|0 of 0|A test passes|Exact constants/);
    assert.match(trace, /^Parameters +none$/m);
    assert.ok(html.includes(`<p>${title}</p>`));
    assert.doesNotMatch(html, /SP 800-22 Rev\. 1a \(April|counted with the tests/);
    assert.match(html, /✗<\/span>Source: FAILED \(supplements FAILED\)<\/h2>/);
    assert.doesNotMatch(html, /id="tests"|id="source"|href="#tests"|tests passed|in eight/);
  });
});

/** Inputs in another form get no verdict, from any command, from a file, standard input or memory. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { AssessError, assess } from '../../src/index-node.ts';
import { npy } from '../support/form-files.ts';
import { runCommand, runCommandOn } from '../support/run-command.ts';

const SOUND = aesCtr(Buffer.alloc(32, 51), 4_000);

/** Digits of a generator with 70 % ones, compressed. Those of xz pass the tests. */
const BIASED = zstdCompressSync(
  Buffer.from(aesCtr(Buffer.alloc(32, 52), 60_000).map((byte) => (byte < 179 ? 0x31 : 0x30))),
);

const BITS = SOUND.map((byte) => byte & 1);

const INTEGERS = Buffer.from(Int32Array.from(BITS).buffer);

/** As `od -tx1` writes it. */
const LISTING = Buffer.from(
  SOUND.toString('hex')
    .replace(/../g, '$& ')
    .replace(/.{48}/g, (line, at: number) => `${(at / 3).toString(8).padStart(7, '0')} ${line}\n`),
);

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'phm-other-form-'));
});
after(() => rmSync(folder, { recursive: true }));

function write(name: string, content: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const NO_VERDICT: readonly (readonly [
  what: string,
  input: Uint8Array,
  args: readonly string[],
  says: RegExp,
])[] = [
  ['compressed data', BIASED, ['assess'], /looks like zstd\. No verdict: use zstd -dc/],
  ['compressed data after skipped bits', BIASED, ['assess', '--offset', '800'], /like zstd/],
  ['growing amounts of them', BIASED, ['assess', '--doubling', '--bits', '1000'], /like zstd/],
  ['them as JSON', BIASED, ['assess', '--json'], /like zstd/],
  ['them as samples', BIASED, ['assess-entropy'], /like zstd.*\| \S+ assess-entropy -/],
  ['a part of them as samples', BIASED, ['assess-entropy', '--subset', '3,1000'], /like zstd/],
  ['them for AIS 31', BIASED, ['assess-ais31'], /like zstd.*\| \S+ assess-ais31 -/],
  [
    'them for AIS 31 of 2011',
    BIASED,
    ['assess-ais31', '--edition', '2.0', '--procedure', 'B'],
    /\| \S+ assess-ais31 --edition 2\.0 --procedure B -/,
  ],
  ['one bit a byte', BITS, ['assess'], /every byte is 0 or 1\. No verdict: use --format bit8;/],
  [
    'one bit an integer',
    INTEGERS,
    ['assess'],
    /32-bit integer \(little-endian\) is 0 or 1\. .*--format bit32le;/,
  ],
  [
    'one bit an integer as samples',
    INTEGERS,
    ['assess-entropy'],
    /is 0 or 1\. .*--format bit32le;/,
  ],
  ['bytes of 0 or 1 as packed', BITS, ['assess-entropy', '--packed'], /every byte is 0 or 1/],
  [
    'a listing that is cut off',
    LISTING,
    ['assess'],
    /is read as listing: the listing does not end with an offset/,
  ],
  [
    'it as samples',
    LISTING,
    ['assess-entropy'],
    /is read as listing: .* it is cut off\. No verdict/,
  ],
  [
    'a listing as hex',
    LISTING,
    ['assess', '--format', 'hex'],
    /a listing with offsets.*use --format listing/,
  ],
  ['compressed data as hex', BIASED, ['assess', '--format', 'hex'], /looks like zstd/],
  [
    'small integers of an array, whose order of bytes the array has',
    npy(Buffer.from(Uint16Array.from(SOUND).buffer), '<u2', '4000,'),
    ['assess'],
    /is read as npy, and what it holds holds samples: every 16-bit integer is below 256\. .*use --format npy:0-7/,
  ],
  [
    'bits after a header',
    Buffer.concat([SOUND.subarray(0, 100), BITS]),
    ['assess', '--offset', '800'],
    /every byte is 0 or 1/,
  ],
];

describe('an input in another form', () => {
  for (const [what, input, [command = '', ...options], says] of NO_VERDICT) {
    it(`gets no verdict: ${what}`, async () => {
      const file = write('input', input);
      const fromFile = await runCommand([command, file, ...options]);
      const fromStream = await runCommandOn(input, [command, '-', ...options]);
      for (const { code, stdout, stderr } of [fromFile, fromStream]) {
        assert.deepEqual([code, stdout], [2, ''], stderr);
        assert.match(stderr, says);
      }
    });
  }

  it('has a command for each file name, also with signs of a replacement and line ends', async () => {
    for (const [name, word] of [
      ['a$&b', /\| zstd -dc '\S+\/a\$&b' \|/],
      ["it's\n$'1", /\| zstd -dc \$'\S+\/it\\'s\\012\$\\'1' \|/],
    ] as const) {
      const { stderr } = await runCommand(['assess', write(name, BIASED)]);
      assert.match(stderr.replace('use ', '| '), word);
    }
  });

  it('is read as it is with --format binary', async () => {
    const args = ['assess', write('input', BIASED), '--format', 'binary'];
    const { code, stdout, stderr } = await runCommand(args);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^frequency /m);
  });

  it('that nothing names gets a hint, in each report and on standard error, and its verdict', async () => {
    const words = aesCtr(Buffer.alloc(32, 53), 16_000).map((byte, i) => (i % 2 ? byte & 15 : byte));
    const file = write('words.bin', words);
    const hint = /never change: the format u16le:0-11 leaves them out/;
    const text = await runCommand(['assess', file, '--fail']);
    assert.equal(text.code, 1);
    assert.match(text.stdout, /^Hint +bits 12, 13, 14, 15 of every 16-bit word/m);
    assert.match(text.stderr, /^hint: bits 12, 13, 14, 15 /);
    const json = await runCommand(['assess', file, '--bits', '1000', '--sequences', '2', '--json']);
    assert.match(JSON.parse(json.stdout).input.hints[0], hint);
    const csv = await runCommand(['assess', file, '--csv']);
    assert.match(csv.stdout, /^# Hint,"bits 12, /m);
    // Enough bits for the first test of procedure B.
    const twice = write('twice.bin', Buffer.concat([words, words]));
    const ais = await runCommand(['assess-ais31', twice, '--edition', '2.0', '--procedure', 'B']);
    assert.match(ais.stderr, hint);
    const result = await assess(words, { bits: 1000, workers: 0 });
    assert.match(result.trace.input.hints?.[0] ?? '', hint);
    const right = await runCommand(['assess', file, '--format', 'u16le:0-11', '--json']);
    assert.equal(right.stderr, '');
    assert.deepEqual(
      [JSON.parse(right.stdout).input.format, JSON.parse(right.stdout).input.hints],
      ['u16le:0-11', undefined],
    );
  });

  it('is no other form if samples have a byte each', async () => {
    const { code, stderr } = await runCommand(['assess-entropy', write('samples', BITS)]);
    assert.equal(code, 0);
    assert.doesNotMatch(stderr, /every byte/);
  });

  it('is not waited for longer than for the first sequence', async () => {
    const endless = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(new Uint8Array(SOUND.subarray(0, 125))),
    });
    const { summary } = await assess(endless, { bits: 1000, sequences: 1, workers: 0 });
    assert.equal(summary.sequences, 1);
  });

  it('rejects in the library, which names it, unless it is called binary', async () => {
    const sources = [BIASED, new Blob([new Uint8Array(BIASED)]), inChunks(BIASED)];
    for (const source of sources) {
      await assert.rejects(assess(source, { bits: null, workers: 0 }), (error) => {
        assert.ok(error instanceof AssessError);
        assert.deepEqual([error.code, error.figures.form?.name], ['other-form', 'zstd']);
        assert.match(error.message, /looks like zstd: give what "zstd -dc FILE" writes/);
        return true;
      });
    }
    const options = { bits: null, workers: 0, format: 'binary' } as const;
    assert.equal((await assess(BIASED, options)).summary.sequences, 1);
  });

  it('names commands as the user starts the program, of one word or several', async () => {
    for (const launcher of ['phm-lab', 'npx phm-lab', "'/my tools/phm-lab'"]) {
      const packed = await runCommand(['assess', write('packed', BIASED)], {}, launcher);
      assert.ok(packed.stderr.includes(` | ${launcher} assess -`), packed.stderr);
    }
  });
});

async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
}

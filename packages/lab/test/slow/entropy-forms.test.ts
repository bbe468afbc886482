/** Samples of `phm-lab assess-entropy` in every form that has some of at most 8 bits. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { intelHex, npy, wav, xxdListing } from '../support/form-files.ts';
import { commandJson, runCommand } from '../support/run-command.ts';

const BYTES = aesCtr(Buffer.alloc(32, 91), 3000);
const NIBBLES = BYTES.map((byte) => byte & 15);
const BITS = BYTES.map((byte) => byte & 1);

const words = (low: Uint8Array): Buffer => Buffer.from(Uint16Array.from(low).buffer);

/** The samples, one a byte, and a file that holds them in a form; null: the file names it. */
const FORMS: readonly (readonly [format: string | null, samples: Uint8Array, file: Uint8Array])[] =
  [
    ['u16le:0-7', BYTES, words(BYTES)],
    ['u4in16le', NIBBLES, words(NIBBLES)],
    ['u8:0-3', NIBBLES, BYTES],
    ['packed4', NIBBLES, packed(NIBBLES)],
    ['bit16le', BITS, words(BITS)],
    ['ascii', BITS, Buffer.from(BITS.join(''))],
    ['hex', BYTES, Buffer.from(BYTES.toString('hex'))],
    ['base64', BYTES, Buffer.from(BYTES.toString('base64'))],
    ['csv:2:8', BYTES, Buffer.from([...BYTES].map((byte, i) => `${i},${byte}\n`).join(''))],
    ['numbers:4', NIBBLES, Buffer.from(NIBBLES.join(' '))],
    ['gzip:csv:1:4', NIBBLES, gzipSync(NIBBLES.join('\n'))],
    [null, BYTES, npy(BYTES, '|u1', '3000,')],
    [null, BITS, npy(BITS, '|b1', '3000,')],
    ['npy:0-7', BYTES, npy(words(BYTES), '<u2', '3000,')],
    [null, BYTES, wav(BYTES, { bits: 8 })],
    ['wav:1:0-3', NIBBLES, wav(words(NIBBLES))],
    [null, BYTES, Buffer.from(intelHex(BYTES))],
    [null, BYTES, Buffer.from(xxdListing(BYTES))],
  ];

function packed(nibbles: Uint8Array): Uint8Array {
  return Uint8Array.from(
    { length: nibbles.length / 2 },
    (_, i) => Number(nibbles[2 * i]) * 16 + Number(nibbles[2 * i + 1]),
  );
}

describe('samples of phm-lab assess-entropy', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'phm-entropy-forms-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const write = (name: string, content: Uint8Array): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };

  interface Report {
    readonly input: { readonly format: string; readonly sha256: string };
    readonly [figure: string]: unknown;
  }

  const figuresOf = async (args: readonly string[]): Promise<Report> => {
    const { created: _, report: __, warnings: ___, ...rest } = await commandJson<Report>(args);
    return rest as Report;
  };

  for (const [i, [format, samples, file]] of FORMS.entries()) {
    it(`are those of ${format ?? 'a file that names its form'} (${i})`, async () => {
      const option = format === null ? [] : ['--format', format];
      const { input, ...found } = await figuresOf([
        'assess-entropy',
        write('file', file),
        ...option,
      ]);
      const bytes = await figuresOf([
        'assess-entropy',
        write('bytes', samples),
        '--format',
        'binary',
      ]);
      assert.equal(input.sha256, bytes.input.sha256, 'the samples');
      if (format !== null) assert.equal(input.format, format);
      const { input: _, ...expected } = bytes;
      assert.deepEqual(found, expected);
    });
  }

  it('have at most 8 bits: others are refused, with what to do', async () => {
    for (const [format, file] of [
      ['u16le', words(BYTES)],
      ['packed12', BYTES],
      ['csv:1:12', Buffer.from('1\n4000\n')],
      ['wav', wav(words(BYTES))],
      ['npy', npy(words(BYTES), '<u2', '3000,')],
    ] as const) {
      const args = ['assess-entropy', write('wide', file), '--format', format];
      const { code, stdout, stderr } = await runCommand(args);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, /samples of at most 8 bits, .*choose bits of them, such as u16le:0-7/);
    }
  });

  it('can be a part of a text', async () => {
    const file = write('part.csv', Buffer.from([...BYTES].join('\n')));
    const part = ['--format', 'csv:1:8', '--subset', '1,1000'];
    const found = await figuresOf(['assess-entropy', file, ...part]);
    const bytes = write('part', BYTES.subarray(1000, 2000));
    assert.equal(found.input.sha256, (await figuresOf(['assess-entropy', bytes])).input.sha256);
    const { stderr } = await runCommand(['assess-entropy', file, ...part.with(3, '3,900')]);
    assert.match(stderr, /contains 300 of the 900 samples of --subset 3,900; name a part/);
  });
});

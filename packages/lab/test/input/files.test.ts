/** Files that the programs of others wrote (`files/make.sh`): each is read as the bits of their source. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readForm } from '../support/read-form.ts';

const FOLDER = join(import.meta.dirname, 'files');
const SOURCE = readFileSync(join(FOLDER, 'source.bin'));
const TURNED = Buffer.from(SOURCE).swap16();

/** The format that is chosen; null: the file names its form. The bits are those of the source, or of its turned words. */
const FILES: readonly (readonly [name: string, format: string | null, bits?: Buffer])[] = [
  ['objcopy.hex', null],
  ['objcopy-flash.hex', null],
  ['objcopy.srec', null],
  ['objcopy-s3.srec', null],
  ['od.txt', null],
  ['od-decimal.txt', null],
  ['od-words.txt', null],
  ['od-long.txt', null],
  ['hexdump.txt', null],
  ['hexdump-canonical.txt', null],
  ['hexdump-octal.txt', null],
  ['xxd.txt', null],
  ['xxd-bits.txt', null],
  ['xxd-wide.txt', null],
  ['xxd-plain.txt', 'hex'],
  ['base64.txt', 'base64'],
  ['source.bin.gz', null],
  ['bytes.npy', null],
  ['words.npy', null],
  ['bool.npy', null],
  ['sound8.wav', null],
  ['sound16.wav', null, TURNED],
  ['stereo.wav', 'wav:all'],
  ['stereo.wav', 'wav:2', SOURCE.filter((_, i) => i % 2 === 1) as Buffer],
  ['column.csv', 'csv'],
  ['column.csv', 'csv:2:8'],
];

describe('files of other programs', () => {
  for (const [name, format, bits = SOURCE] of FILES) {
    it(`are read: ${name}${format ? ` as ${format}` : ''}`, async () => {
      const { hex, bits: count } = await readForm(
        readFileSync(join(FOLDER, name)),
        format ?? undefined,
      );
      assert.deepEqual([hex, count], [Buffer.from(bits).toString('hex'), 8 * bits.length]);
    });
  }

  it('are all read', () => {
    const read = new Set(FILES.map(([name]) => name));
    const others = readdirSync(FOLDER).filter((name) => !read.has(name));
    assert.deepEqual(others, ['make.sh', 'source.bin']);
  });
});

/** Listings of bytes: which are recognised, and which digits are not taken for one. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { guessFormat } from '../../src/index-node.ts';
import { recogniseNoDigits } from '../../src/input/input-format.ts';

const RANDOM = aesCtr(Buffer.alloc(32, 41), 8192);

/** Lines of 16 bytes. */
function listing(line: (bytes: Buffer, at: number) => string, count = 20): Buffer {
  const lines = Array.from({ length: count }, (_, i) =>
    line(RANDOM.subarray(16 * i, 16 * i + 16), 16 * i),
  );
  return Buffer.from(`${lines.join('\n')}\n`);
}

const pairs = (bytes: Buffer): string => bytes.toString('hex').replace(/../g, '$& ').trim();

function intelHex(bytes: Buffer, at: number): string {
  const record = Buffer.from([bytes.length, at >> 8, at & 255, 0, ...bytes]);
  const sum = record.reduce((total, byte) => total + byte, 0);
  return `:${record.toString('hex')}${((-sum >>> 0) & 255).toString(16).padStart(2, '0')}`.toUpperCase();
}

function sRecord(bytes: Buffer, at: number): string {
  const record = Buffer.from([bytes.length + 3, at >> 8, at & 255, ...bytes]);
  const sum = record.reduce((total, byte) => total + byte, 0);
  return `S1${record.toString('hex')}${(~sum & 255).toString(16).padStart(2, '0')}`;
}

describe('listings', () => {
  const padded = (at: number, base: number, width: number): string =>
    at.toString(base).padStart(width, '0');
  const octal = (bytes: Buffer): string => [...bytes].map((byte) => padded(byte, 8, 3)).join(' ');
  const texts: readonly (readonly [what: string, name: string, text: Buffer])[] = [
    ['Intel HEX', 'intel_hex', listing(intelHex)],
    ['S-records', 's_record', listing(sRecord)],
    ['od -tx1', 'listing', listing((bytes, at) => `${padded(at, 8, 7)} ${pairs(bytes)}`)],
    [
      'od -x',
      'listing',
      listing(
        (bytes, at) => `${padded(at, 8, 7)} ${bytes.toString('hex').replace(/.{4}/g, '$& ')}`,
      ),
    ],
    ['od -b', 'listing', listing((bytes, at) => `${padded(at, 8, 7)} ${octal(bytes)}`)],
    ['od -Ax', 'listing', listing((bytes, at) => `${padded(at, 16, 6)} ${pairs(bytes)}`)],
    ['od -Ad', 'listing', listing((bytes, at) => `${padded(at, 10, 7)} ${pairs(bytes)}`)],
    [
      'hexdump -C',
      'listing',
      listing((bytes, at) => `${padded(at, 16, 8)}  ${pairs(bytes)}  |................|`),
    ],
    [
      'xxd',
      'listing',
      listing((bytes, at) => `${padded(at, 16, 8)}: ${pairs(bytes)}  ................`),
    ],
    [
      'a listing that begins later',
      'listing',
      listing((bytes, at) => `${padded(at + 0x8000, 16, 8)} ${pairs(bytes)}`),
    ],
    [
      'a listing of two lines',
      'listing',
      listing((bytes, at) => `${padded(at, 8, 7)} ${pairs(bytes)}`, 2),
    ],
  ];
  it('recognises a listing with short offsets, and records whose checksum is wrong', () => {
    const short = listing((bytes, at) => `${padded(at, 16, 4)}: ${pairs(bytes)}`);
    assert.equal(guessFormat(short), 'listing');
    const wrong = listing((bytes, at) => intelHex(bytes, at).replace(/.$/, at === 0 ? 'G' : '$&'));
    assert.equal(guessFormat(wrong), 'intel_hex', 'its reader names the line');
    const damaged = listing((bytes, at) => intelHex(bytes, at).replace(/..$/, at ? '$&' : '00'));
    assert.equal(guessFormat(damaged), 'intel_hex');
    const records = listing((bytes, at) => sRecord(bytes, at).replace(/..$/, at ? '$&' : '00'));
    assert.equal(guessFormat(records), 's_record');
    // All of a program that computes them otherwise.
    for (const [name, record] of [
      ['intel_hex', intelHex],
      ['s_record', sRecord],
    ] as const) {
      const others = listing((bytes, at) =>
        record(bytes, at).replace(/..$/, (sum) => padded(255 - Number.parseInt(sum, 16), 16, 2)),
      );
      assert.equal(guessFormat(others), name, 'its reader names the checksum');
    }
  });

  it('recognises what od writes without offsets, but for a generator that is stuck', () => {
    const words = listing((bytes) =>
      bytes
        .toString('hex')
        .replace(/..../g, (word) => ` ${padded(Number.parseInt(word, 16), 8, 6)}`),
    );
    for (const text of [words, listing((bytes) => ` ${octal(bytes)}`)]) {
      assert.equal(guessFormat(text), 'octal');
      assert.equal(recogniseNoDigits(text)?.name, 'octal');
    }
    assert.equal(recogniseNoDigits(Buffer.from('000000 '.repeat(99))), null);
  });

  for (const [what, name, text] of texts) {
    it(`recognises ${what}, wherever its start is cut off`, () => {
      assert.equal(guessFormat(text), name);
      // Two lines are enough only from offset 0 on.
      for (let cut = what.includes('later') ? 250 : 150; cut < Math.min(text.length, 260); cut++) {
        assert.equal(guessFormat(text.subarray(0, cut)), name, String(cut));
      }
      assert.equal(guessFormat(Buffer.from(String(text).replaceAll('\n', '\r\n'))), name);
    });
  }

  it('takes no digits in lines for one', () => {
    const lines = RANDOM.toString('hex').replace(
      /.{32}/g,
      (line) => `${line.replace(/.{8}/g, '$& ')}\n`,
    );
    assert.equal(guessFormat(Buffer.from(lines)), 'hex');
    const counted = [...RANDOM].map((byte, i) => `${padded(i, 10, 8)} ${byte}`).join('\n');
    assert.equal(guessFormat(Buffer.from(counted)), 'decimal');
  });
});

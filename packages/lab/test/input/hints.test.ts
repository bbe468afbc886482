/** Hints: what they say of samples, headers and copies, and that sound sources get none. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { hintsOn } from '../../src/input/hints.ts';

const RANDOM = aesCtr(Buffer.alloc(32, 71), 65_536);

/** Words of 16 bits. */
const words = (value: (i: number) => number, order: 'LE' | 'BE' = 'LE'): Buffer => {
  const bytes = Buffer.alloc(8000);
  for (let i = 0; i < 4000; i++) bytes[`writeUInt16${order}`](value(i) & 0xffff, 2 * i);
  return bytes;
};
const sample = (i: number): number => RANDOM.readUInt16LE(2 * i);

const CASES: readonly (readonly [what: string, bytes: Buffer, ...says: readonly RegExp[]])[] = [
  [
    'numbers of 12 bits, little-endian',
    words((i) => sample(i) & 0xfff),
    /^bits 12, 13, 14, 15 of every 16-bit word \(little-endian\) never change: the format u16le:0-11 leaves them out$/,
  ],
  ['big-endian', words((i) => sample(i) & 0xfff, 'BE'), /\(big-endian\).* format u16be:0-11 /],
  ['in the high bits', words((i) => sample(i) & 0xfff0), /the format u16le:4-15 leaves them out/],
  [
    'with a sign',
    words((i) => (sample(i) & 0xfff) - 2048),
    /^the upper bits of every 16-bit word \(little-endian\) repeat its sign: the format s12in16le /,
  ],
  ['with a sign, big-endian', words((i) => (sample(i) & 0xff) - 128, 'BE'), /format s8in16be /],
  ['characters', Buffer.from(RANDOM.map((x) => x & 0x7f)), /^bit 7 of every byte .* u8:0-6 /],
  ['a stuck bit', Buffer.from(RANDOM.map((x) => x | 8)), /^bit 3 of every byte .* defect/],
  [
    'noise in 16 bits',
    words((i) => 8 * ((sample(i) & 255) + (sample(i) >> 8) - 255)),
    /bits 0, 1, 2 of every 16-bit/,
  ],
  [
    'noise around a value',
    words((i) => 128 * ((sample(i) & 255) + (sample(i) >> 8) - 255) + (sample(i + 4000) & 127)),
    /^the first and the second byte of 16-bit words .* u16le:0-7 /,
  ],
  [
    'bytes around a value',
    Buffer.from(
      RANDOM.subarray(0, 8000).map((x, i) => 100 + (x & 31) + ((RANDOM[i + 8000] as number) & 31)),
    ),
    /^the upper and the lower half of the bytes/,
  ],
  [
    'a header',
    Buffer.concat([
      Buffer.from('Generator 7, 22 degrees, 2026-11-29\n'),
      Buffer.alloc(476),
      RANDOM.subarray(0, 8000),
    ]),
    /^what is tested begins with a text of about 512 characters.*: an offset of about 4096 bits/,
  ],
  [
    'a copy',
    Buffer.concat([RANDOM.subarray(0, 4000), RANDOM.subarray(0, 800)]),
    /^the same 8 bytes stand at bytes 0 and 4000 of what is tested/,
  ],
];

describe('hints', () => {
  for (const [what, bytes, ...says] of CASES) {
    it(`name what reads ${what}`, () => {
      const hints = hintsOn(bytes);
      assert.equal(hints.length, says.length, hints.join('; '));
      for (const [i, said] of says.entries()) assert.match(hints[i] as string, said);
    });
  }

  it('name bits of the form that was chosen, if it has such an option', () => {
    // Words are read with the most significant byte first.
    const unsigned = words((i) => sample(i) & 0xfff, 'BE');
    const signed = words((i) => (sample(i) & 0xfff) - 2048, 'BE');
    for (const [bytes, format, says] of [
      [unsigned, 'u16le', /^bits 12, 13, 14, 15 of every 16-bit word never .* format u16le:0-11 /],
      [unsigned, 's16be', /the format s16be:0-11 leaves/],
      [unsigned, 'npy', /the format npy:0-11 leaves/],
      [unsigned, 'wav:2', /the format wav:2:0-11 leaves/],
      [unsigned, 'ihex', /of every 16-bit word never change: this is a defect/],
      [unsigned, 'u32le', /this is a defect of the generator, or the input has another form$/],
      [signed, 'u16le', /repeat its sign: the format u16le:0-11 leaves/],
      [signed, 'csv:1:16', /^the upper bits of every 16-bit word repeat its sign: leave them out$/],
    ] as const) {
      assert.match(hintsOn(bytes, 0, format)[0] ?? '', says, format);
    }
  });

  it('are not given to sound sources, however short', () => {
    for (let key = 0; key < 60; key++) {
      const bytes = aesCtr(Buffer.alloc(32, 100 + key), 65_536);
      for (const length of [13, 40, 100, 1000, 65_536]) {
        assert.deepEqual(hintsOn(bytes.subarray(0, length)), []);
      }
    }
  });

  it('are not given to a dead generator, which the tests fail', () => {
    assert.deepEqual(hintsOn(new Uint8Array(1000)), []);
    assert.deepEqual(hintsOn(new Uint8Array(1000).fill(0xa5)), []);
  });

  it('are not given to biased bits, which have no structure', () => {
    const biased = Buffer.from(RANDOM.subarray(0, 20_000)).map(
      (x, i) => x | ((RANDOM[i + 20_000] as number) & (RANDOM[i + 40_000] as number)),
    );
    assert.deepEqual(hintsOn(biased), []);
  });
});

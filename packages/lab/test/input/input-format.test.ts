/** What `guessFormat` says of texts, compressed data, random bytes and noise. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { guessFormat, recogniseForm } from '../../src/index-node.ts';

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Little-endian, without a byte order mark. */
const utf32 = (text: string): Buffer =>
  Buffer.concat([...text].map((character) => Buffer.from([character.charCodeAt(0), 0, 0, 0])));

test('recognises digits and gzip by their first bytes, and nothing in random bytes', () => {
  const gzip = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3);
  assert.equal(guessFormat(gzip), 'gzip');
  assert.equal(guessFormat(ascii('0110 01101\n010110')), 'ascii');
  assert.equal(guessFormat(ascii('\ufeff0110011010101')), 'ascii');
  assert.equal(guessFormat(ascii('0x00, 0x12, 0xAB, 0XC0')), 'hex');
  assert.equal(guessFormat(ascii(`${'00ff'.repeat(1024)} the rest is not looked at`)), 'hex');
  // Too few, no digit, one other character, another method of compression.
  assert.equal(guessFormat(ascii('0110')), null);
  assert.equal(guessFormat(ascii('\n'.repeat(64))), null);
  assert.equal(guessFormat(ascii('0110011001100110g')), null);
  assert.equal(guessFormat(gzip.with(2, 7)), null);
  const random = aesCtr(Buffer.alloc(32, 9), 64 * 1000);
  for (const length of [13, 64]) {
    for (let i = 0; i < random.length; i += length) {
      assert.equal(guessFormat(random.subarray(i, i + length)), null);
    }
  }
});

test('advises hexadecimal only if no later number of the head is shorter', () => {
  const bytes = [...aesCtr(Buffer.alloc(32, 10), 1000)].map((byte) => byte | 0x10);
  const even = bytes.map((byte) => byte.toString(16));
  const uneven = even.with(600, '7');
  for (const [prefix, separator] of [
    ['0x', ' '],
    ['0x', ',\n'],
    ['', ':'],
  ] as const) {
    const text = (numbers: readonly string[]): Uint8Array =>
      ascii(numbers.map((number) => `${prefix}${number}`).join(separator));
    assert.equal(guessFormat(text(even)), 'hex');
    assert.equal(guessFormat(text(uneven)), 'text');
  }
  assert.equal(guessFormat(ascii('0x1f 0000 0x07 0x1e 0x03 0000 0x11 0x13')), 'text');
  assert.equal(guessFormat(ascii('0x5c3f99a1\n07d4ab12\n99')), 'hex', 'one prefix, wrapped');
});

test('recognises decimal numbers and other texts', () => {
  const bytes = aesCtr(Buffer.alloc(32, 11), 600);
  const dump = bytes.toString('hex').replace(/.{32}/g, '00000010: $&\n');
  const texts: [string | Uint8Array, ReturnType<typeof guessFormat>][] = [
    [[...bytes].join('\n'), 'decimal'],
    [[...bytes].join(', '), 'decimal'],
    [`[${[...bytes].join(', ')}]\n`, 'decimal'],
    ['0.25;-1\n0.75;12\n', 'decimal'],
    [`value\n${[...bytes].join('\n')}`, 'text'],
    [bytes.toString('base64'), 'text'],
    [bytes.toString('base64').replace(/.{76}/g, '$&\r\n'), 'text'],
    [dump, 'text'],
    [Buffer.from(`\ufeff${bytes.toString('hex')}`, 'utf16le'), 'utf-16'],
    [Buffer.from(`\ufeff${bytes.toString('hex')}`, 'utf16le').swap16(), 'utf-16'],
    [Buffer.from(bytes.toString('hex'), 'utf16le'), 'utf-16'],
    [Buffer.from(bytes.toString('hex'), 'utf16le').swap16(), 'utf-16'],
    [Buffer.from(bytes.toString('base64'), 'utf16le'), 'utf-16'],
    [Buffer.from(`Gemessen in Köln:\n${bytes.toString('hex')}`, 'latin1'), 'text'],
    [`Gemessen in Köln:\n${bytes.toString('hex')}`, 'text'],
    [`${bytes.toString('hex').replace(/.{32}/g, '$&\n')}\0`, 'text'],
    [`[${[...bytes].map((byte) => byte > 127).join(', ')}]`, 'text'],
    [utf32(bytes.toString('hex')), 'utf-32'],
    [utf32(bytes.toString('hex')).swap32(), 'utf-32'],
  ];
  for (const [text, guess] of texts) {
    const head = typeof text === 'string' ? ascii(text) : text;
    assert.equal(guessFormat(head), guess, String(text).slice(0, 40));
  }
});

test('takes words for no base64', () => {
  const prose = 'It was the best of times and it was the worst of times '.repeat(20);
  for (const text of [prose, prose.replaceAll(' ', '\n'), prose.replace(/.{60}/g, '$&\n')]) {
    assert.equal(recogniseForm(ascii(text))?.says, 'looks like text');
  }
  const bytes = aesCtr(Buffer.alloc(32, 11), 600);
  const base64 = bytes.toString('base64').replace(/.{76}/g, '$&\r\n');
  assert.equal(recogniseForm(ascii(base64))?.says, 'looks like base64');
});

test('takes no samples of a byte for a text, whatever value their noise is around', () => {
  const steps = aesCtr(Buffer.alloc(32, 12), 1000);
  // A bell of 16 sums: nearly all are printable, and some are codes of line ends.
  const bell = Uint8Array.from({ length: 4096 }, (_, i) =>
    steps.subarray(i % 900, (i % 900) + 16).reduce((sum, step) => sum + step / 16, -70),
  );
  assert.equal(guessFormat(bell), null);
  for (const width of [2, 3, 5, 9, 20, 60]) {
    for (let mean = 0; mean + width <= 256; mean++) {
      const samples = steps.map((step) => mean + (step % width));
      const guess = guessFormat(samples);
      // Samples that are 48 or 49 are digits 0 and 1 also by their codes; those that are 0 or 1 hold a bit each.
      const two = { 0: 'bit_words', 48: 'ascii' }[mean] ?? null;
      const form = guess === 'samples' ? null : guess;
      assert.equal(form, width === 2 ? two : null, `${mean}, ${width} values`);
    }
  }
});

/** Texts of digits that look like those of another form: their bits would be wrong, so no verdict is given on them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { recogniseForm } from '../../src/index-node.ts';
import { hintsOn } from '../../src/input/hints.ts';
import { readForm, refusal } from '../support/read-form.ts';

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DECIMAL = '0123456789';
const ALL = `${DECIMAL}${UPPER}${UPPER.toLowerCase()}`;
const RANDOM = aesCtr(Buffer.alloc(32, 91), 200_000);

/** Returns sound numbers below `below`, at most 65,535. */
function numbers(count: number, below: number, seed = 92): number[] {
  const words = aesCtr(Buffer.alloc(32, seed), 8 * count);
  return Array.from({ length: count }, (_, i) => words.readUInt32LE(8 * i) % below);
}

const textOf = (digits: string, length: number): string =>
  numbers(length, digits.length)
    .map((i) => digits[i])
    .join('');

const inLines = (text: string, length: number): string =>
  (text.match(new RegExp(`.{1,${length}}`, 'g')) ?? []).join('\n');

function base32(bytes: Uint8Array, digits: string): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => digits[Number.parseInt(five, 2)]).join('');
}

const RFC_32 = `${UPPER}234567`;
const HEX_32 = `${DECIMAL}${UPPER.slice(0, 22)}`;

describe('a text of letters and digits', () => {
  for (const [says, text, command] of [
    ['base32', base32(RANDOM.subarray(0, 5000), RFC_32), 'base32 -d FILE'],
    ['base32', inLines(base32(RANDOM.subarray(0, 500), RFC_32), 64), 'base32 -d FILE'],
    [
      'base32',
      base32(RANDOM.subarray(0, 500), RFC_32.toLowerCase()),
      'tr a-z A-Z < FILE | base32 -d',
    ],
    [
      'base32 with the digits of hexadecimal numbers',
      base32(RANDOM.subarray(0, 500), HEX_32),
      'basenc --base32hex -d FILE',
    ],
    ['base58', inLines(textOf(ALL.replace(/[0OIl]/g, ''), 8000), 44), undefined],
    ['letters and digits', textOf(ALL, 8000), undefined],
    ['letters and digits', inLines(textOf(ALL.toLowerCase().slice(0, 36), 8000), 32), undefined],
    ['letters', textOf(UPPER.toLowerCase(), 8000), undefined],
    ['decimal digits without spaces', textOf(DECIMAL, 8000), undefined],
  ] as const) {
    it(`looks like ${says}, not like base64 (${text.length} characters)`, async () => {
      const form = recogniseForm(Buffer.from(text));
      assert.equal(form?.says, `looks like ${says}`);
      const { remedy } = form;
      assert.equal(remedy.kind === 'command' ? remedy.command : undefined, command);
      await assert.rejects(readForm(Buffer.from(text), 'base64'), {
        message: `the text looks like ${says}, which is no base64`,
      });
    });
  }

  it('is base64 if it is short, or has the digits that base64 has', async () => {
    for (let length = 33; length < 6000; length = Math.ceil(1.3 * length)) {
      for (let seed = 0; seed < 20; seed++) {
        const bytes = aesCtr(Buffer.alloc(32, seed), length);
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = Buffer.from(bytes.toString(encoding));
          assert.equal(recogniseForm(text)?.says, 'looks like base64', `${length}, ${seed}`);
          assert.equal((await readForm(text, 'base64')).hex, bytes.toString('hex'));
        }
      }
    }
  });

  it('is base64 of a defective source if its digits are uneven: the tests fail it', async () => {
    const [a, b, c] = [RANDOM, RANDOM.subarray(6000), RANDOM.subarray(12_000)];
    const pieces = (combine: (i: number) => number): Buffer =>
      Buffer.from(Array.from({ length: 6000 }, (_, i) => combine(i) & 255));
    for (const bytes of [
      pieces((i) => (a[i] as number) & (b[i] as number)),
      pieces((i) => (a[i] as number) & (b[i] as number) & (c[i] as number)),
      pieces((i) => (a[i] as number) | (b[i] as number) | (c[i] as number)),
      pieces((i) => (a[i] as number) & 0x7f),
      Buffer.from(textOf(ALL, 6000)),
      Buffer.alloc(6000, 'abc'),
    ]) {
      const text = Buffer.from(bytes.toString('base64'));
      assert.equal((await readForm(text, 'base64:binary')).hex, bytes.toString('hex'));
    }
  });
});

describe('UUIDs', () => {
  const lines = Array.from({ length: 200 }, (_, i) => {
    const digits = RANDOM.subarray(16 * i, 16 * i + 16).toString('hex');
    return digits.replace(/(.{8})(.{3}).(.{4})(.{4})(.{12}).*/, '$1-$24-$3-$4-$5').slice(0, 36);
  });

  for (const [how, text] of [
    ['in lines', lines.join('\n')],
    ['in braces', lines.map((line) => `{${line.toUpperCase()}}`).join('\r\n')],
    ['in a list', lines.map((line) => `"${line}",`).join('\n')],
    ['one', lines[0]],
  ] as const) {
    it(`are neither base64 nor hexadecimal digits: ${how}`, async () => {
      const form = recogniseForm(Buffer.from(text));
      assert.equal(form?.name, 'uuid');
      assert.equal((await refusal(Buffer.from(text), 'hex')).code, 'other-form');
    });
  }
});

describe('numbers of another base', () => {
  const bytes = RANDOM.subarray(0, 2000);
  const table = (show: (byte: number) => string): Buffer =>
    Buffer.from(`t,v\n${Array.from(bytes, (byte, i) => `${i},${show(byte)}`).join('\n')}\n`);

  for (const [base, input] of [
    ['binary', table((byte) => byte.toString(2).padStart(8, '0'))],
    ['binary', table((byte) => byte.toString(2))],
    ['binary', table((byte) => `"${(byte & 3).toString(2).padStart(2, '0')}"`)],
    ['octal', table((byte) => byte.toString(8).padStart(3, '0'))],
  ] as const) {
    it(`are not read as decimal: ${base}, such as ${input.subarray(4, 16)}`, async () => {
      assert.match(recogniseForm(input)?.says ?? '', new RegExp(`column 2 holds ${base} numbers$`));
      const { message } = await refusal(input, 'csv:2');
      assert.match(message, new RegExp(`^the numbers look like ${base} ones: `));
    });
  }

  it('are read as decimal if the number of bits is given', async () => {
    const input = Buffer.from(
      Array.from({ length: 100 }, (_, i) => `${i % 2}1${i % 2}`).join('\n'),
    );
    assert.equal((await readForm(input, 'csv:1:7')).bits, 700);
  });

  it('are decimal if they have other digits, or one each', async () => {
    for (const show of [
      (byte: number) => byte.toString(10).padStart(3, '0'),
      (byte: number) => String(byte & 1),
      (byte: number) => String(byte & 7),
      (byte: number) => byte.toString(8),
    ]) {
      const remedy = recogniseForm(table(show))?.remedy;
      assert.deepEqual(remedy, { kind: 'format', format: 'csv:2' });
      assert.ok((await readForm(table(show), 'csv:2')).bits > 0);
    }
  });

  it('of many digits have as many bits as they need', () => {
    const long = (digits: number): string =>
      recogniseForm(Buffer.from(`name,number\n${`sample,${'9'.repeat(digits)}\n`.repeat(3)}`))
        ?.says ?? '';
    assert.match(long(20), /whole numbers of 67 bits$/);
    assert.match(long(400), /whole numbers of 1329 bits$/);
  });
});

describe('numbers that use a part of their values', () => {
  const hint = async (values: readonly number[], format: string): Promise<string | undefined> => {
    const { hex, format: full } = await readForm(Buffer.from(values.join('\n')), format);
    return hintsOn(Buffer.from(hex, 'hex'), 0, full)[0];
  };

  it('get a hint: those of a die, digits, percents, and numbers from 1', async () => {
    assert.equal(
      await hint(
        numbers(1000, 6).map((x) => x + 1),
        'numbers',
      ),
      'the numbers of 3 bits go from 1 to 6 only. These 6 values hold no whole number of bits: leave out all numbers but 4 values, and give these as numbers from 0 up, of 2 bits',
    );
    assert.match((await hint(numbers(1000, 10), 'csv')) ?? '', /from 0 to 9 only.* 10 values/);
    assert.match((await hint(numbers(2000, 1000), 'csv:1')) ?? '', / 0 to 999 .* 512 values/);
    assert.equal(
      await hint(
        numbers(2000, 256).map((x) => x + 1),
        'numbers',
      ),
      'the numbers of 9 bits go from 1 to 256 only: less 1 they need 8 bits',
    );
    assert.equal(
      await hint(numbers(2000, 16), 'numbers:8'),
      'the numbers of 8 bits go from 0 to 15 only: they need 4 bits',
    );
  });

  it('get one in packed samples too, from the first whole sample on', () => {
    const values = numbers(4000, 3000);
    const bits = values.map((value) => value.toString(2).padStart(12, '0')).join('');
    const packed = (from: number): Buffer =>
      Buffer.from(
        (bits.slice(from).match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)),
      );
    for (const from of [0, 5, 12]) {
      assert.match(hintsOn(packed(from), from, 'packed12')[0] ?? '', /from \d to 2,99\d only/);
    }
  });

  it('get none if they are sound', async () => {
    for (const bits of [1, 2, 3, 8, 9, 12, 16]) {
      for (const count of [20, 100, 5000]) {
        const values = numbers(count, 2 ** bits, bits);
        assert.equal(await hint(values, `numbers:${bits}`), undefined, `${bits}, ${count}`);
      }
    }
  });
});

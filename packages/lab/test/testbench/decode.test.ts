/** What the test bench reads beside the formats of the package, and how it recognises all of them. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { AssessError, guessFormat } from '../../src/index-node.ts';
import { Base64Decoder } from '../../src/input/readers/base64.ts';
import { columnsOf } from '../../src/input/readers/columns.ts';
import { CsvDecoder } from '../../src/input/readers/csv.ts';
import type { Decoder } from '../../src/input/readers/decoder.ts';
import { NumbersDecoder, proposeNumbers } from '../../src/input/readers/numbers.ts';
import type { Numerals } from '../../src/input/readers/numerals.ts';
import { isGzip, recognise } from '../../testbench/src/decode/recognise.ts';
import { intelHex, odListing, sRecords, xxdListing } from '../support/form-files.ts';

const BYTES = aesCtr(Buffer.alloc(32, 23), 3000);

const PACKED = { isSpread: false };

const csv = (column: number, numerals: Numerals): CsvDecoder =>
  new CsvDecoder({ column, numerals }, PACKED);

const numbers = (bits: number): NumbersDecoder => new NumbersDecoder(bits, PACKED);

/** Decodes a text that arrives in two chunks. */
function decode(decoder: Decoder, text: string, cut = Math.floor(text.length / 2)): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([
    decoder.push(bytes.subarray(0, cut)),
    decoder.push(bytes.subarray(cut)),
    decoder.end(),
  ]);
}

describe('recognise', () => {
  const decimals = [...BYTES].join('\n');
  const cases: readonly [name: string, content: Buffer | string, encoding: string | null][] = [
    ['binary', BYTES, 'binary'],
    ['digits', '0110 1001\r\n'.repeat(20), 'ascii'],
    ['digits after a byte order mark', `\ufeff${'0110'.repeat(20)}`, 'ascii'],
    ['hexadecimal digits', BYTES.toString('hex'), 'hex'],
    ['base64', BYTES.toString('base64'), 'base64'],
    ['base64 in lines', BYTES.toString('base64').replace(/.{76}/g, '$&\n'), 'base64'],
    [
      'columns with titles',
      `time,value\n${[...BYTES].map((b, i) => `${i},${b}`).join('\n')}`,
      'csv',
    ],
    ['real numbers', '1.5;-2\n3.25;7\n'.repeat(20), 'csv'],
    ['decimal numbers, which may be hexadecimal', decimals, null],
    ['numbers in quotes', '"time","value"\r"1","200"\r"2","7"\r"3","9"\r', 'csv'],
    ['numbers on one line', '12.5; 200; 33; 1; 7; 250', null],
    ['digits 0 and 1 with commas', '1,0,1,1,0,0,1,0,'.repeat(20), null],
    ['decimal numbers with spaces', '12 200 33 '.repeat(20), null],
    ['decimal digits', '3141592653589793238462643383279'.repeat(5), null],
    ['hexadecimal digits one by one', 'a 0 f 3 '.repeat(20), null],
    ['numbers without leading zeros', '1a 0 f2 3 4c 12 7 8 '.repeat(20), null],
    ['a shorter number among many', `${'1a f2 4c 12 '.repeat(50)}7 `.repeat(2), null],
    ['a few hexadecimal digits', 'deadbeef', null],
    ['hexadecimal bytes', BYTES.toString('hex').replace(/../g, '$&:'), 'hex'],
    ['a list of numbers', `[${[...BYTES].join(', ')}]\n`, null],
    ['UTF-16', Buffer.from(`\ufeff${BYTES.toString('hex')}`, 'utf16le'), null],
    ['a text', 'The quick brown fox; it jumps. '.repeat(5), null],
    ['nothing', '', null],
  ];
  for (const [name, content, format] of cases) {
    it(`says ${format ?? 'that it is unsure'} for ${name}`, () => {
      assert.equal(recognise(Buffer.from(content)).format, format);
    });
  }

  it('chooses what reads samples and texts that name their form, and names no option', () => {
    const bits = BYTES.map((byte) => byte & 1);
    assert.deepEqual(recognise(bits), {
      format: 'bit8',
      reason: 'It holds one bit in each: every byte is 0 or 1. It is read as bit8.',
    });
    assert.equal(recognise(BYTES.map((byte) => byte & 15)).format, 'u8:0-3');
    for (const [content, format] of [
      [intelHex(BYTES), 'ihex'],
      [sRecords(BYTES), 'srec'],
      [odListing(BYTES), 'listing'],
      [xxdListing(BYTES), 'listing'],
    ] as const) {
      const recognised = recognise(Buffer.from(content));
      assert.equal(recognised.format, format);
      assert.doesNotMatch(recognised.reason, /--/);
    }
    const { format, reason } = recognise(zstdCompressSync(BYTES));
    assert.equal(format, null);
    assert.equal(
      reason,
      'It looks like zstd, which the page does not read: drop what "zstd -dc FILE" writes.',
    );
  });

  it('says what to do about numbers with 0x that lack leading zeros', () => {
    for (const odd of ['0x7', '0000']) {
      const head = Buffer.from(`${'0x1f, 0x4c, '.repeat(50)}${odd}, 0x12, `);
      const { format, reason } = recognise(head);
      assert.equal(format, null);
      assert.match(reason, /different lengths.*leading zeros/);
    }
  });

  it('knows gzip', () => {
    assert.deepEqual([isGzip(gzipSync(BYTES)), isGzip(BYTES)], [true, false]);
  });
});

describe('guessFormat', () => {
  it('takes nothing for hexadecimal that may be decimal, or may lack leading zeros', () => {
    const guess = (text: string) => guessFormat(Buffer.from(text));
    for (const text of ['1,0,1,1,0,1,0,0,1,1,0,1', '12 200 33 12 200 33']) {
      assert.equal(guess(text), 'decimal', text);
    }
    for (const text of [
      '31415926535897932384',
      'a,b,0,1,f,a,b,0',
      '1a 0 f2 3 4c 12 7 8',
      '0x1, 0xA, 0x10, 0xFF',
      '00000010: 3f2a 99c1 07d4',
    ]) {
      assert.equal(guess(text), null, text);
    }
    for (const text of [
      '3f:2a:99:c1:07',
      '0x12, 0x34, 0x56',
      '3f2a99c1\n07d4ab12\n99',
      `${'3f2a'.repeat(15)} 07d4ab`,
    ]) {
      assert.equal(guess(text), 'hex', text);
    }
  });
});

describe('Base64Decoder', () => {
  it('decodes both alphabets with whitespace, wherever the chunks end', () => {
    for (const length of [0, 1, 2, 3, 300]) {
      const bytes = BYTES.subarray(0, length);
      for (const alphabet of ['base64', 'base64url'] as const) {
        const text = bytes.toString(alphabet).replace(/.{7}/g, '$& \r\n');
        for (let cut = 0; cut < Math.min(9, text.length); cut++) {
          assert.deepEqual(decode(new Base64Decoder(), text, cut), Buffer.from(bytes));
        }
      }
    }
  });

  it('refuses spaces within lines, and lines of several lengths', () => {
    const prose = 'it was the best of times and it was the worst of times it was the age';
    assert.throws(() => decode(new Base64Decoder(), prose), /line 1 has a space between digits/);
    assert.throws(() => decode(new Base64Decoder(), 'AAAA\nAA AA\n'), /line 2 has a space/);
    for (const text of ['AAAA\nAAAAAA\n', 'AAAA\nAA\nAAAA\n', 'AAAA\nAA\nAA\n']) {
      assert.throws(
        () => decode(new Base64Decoder(), text),
        /line 2 is longer than the first|a line before line 3 is shorter/,
        text,
      );
    }
    const read = (text: string) => recognise(Buffer.from(text)).format;
    assert.equal(read(prose.repeat(9)), null);
    assert.equal(read(prose.replaceAll(' ', '\n').repeat(9)), null);
  });

  it('refuses other characters, digits after the end, and an incomplete group', () => {
    for (const text of [
      'AAA*',
      'AA==AAAA',
      'AAAAA',
      'AA=',
      'AAA==',
      'AAAA=',
      'AA+_',
      '-----BEGIN KEY-----\nAB+/',
    ]) {
      assert.throws(() => decode(new Base64Decoder(), text), AssessError, text);
    }
  });
});

describe('CsvDecoder', () => {
  it('packs a column of bytes', () => {
    const text = `n;value\r\n${[...BYTES].map((byte, i) => `${i};${byte}`).join('\r\n')}\r\n`;
    assert.deepEqual(decode(csv(2, 8), text), BYTES);
  });

  it('packs values of any width, the most significant bit first', () => {
    const bits = decode(csv(1, 1), '1\n0\n1\n0\n0\n1\n1\n1\n1');
    assert.deepEqual([...bits], [0b10100111, 0b10000000]);
    const words = decode(csv(1, 12), '2748\n3567\n');
    assert.equal(words.toString('hex'), 'abcdef');
  });

  it('names the line of a value that is no whole number, too large or missing, and what to do', () => {
    for (const line of ['x', '256', '-1', '1.5']) {
      assert.throws(() => decode(csv(1, 8), `1\n${line}\n`), /line 2/);
    }
    const second = (text: string) => decode(csv(2, 8), text);
    assert.throws(() => second('1,2\n1\n'), /line 2 has 1 cell, and line 1 has 2/);
    assert.throws(() => second('1,2\n1,\n'), /line 2 has nothing in column 2: choose another/);
    assert.throws(() => second('1,256\n'), /needs more than 8 bits: give a larger number of bits/);
    assert.throws(() => second('1,4294967296\n'), /needs more than 32 bits, the most/);
  });

  it('reads carriage returns as line ends, wherever the chunks end', () => {
    for (const end of ['\r', '\r\n', '\n']) {
      const text = ['value', '1', '2', '', '250', ''].join(end);
      for (let cut = 0; cut <= text.length; cut++) {
        const bytes = decode(csv(1, 8), text, cut);
        assert.deepEqual([...bytes], [1, 2, 250], JSON.stringify(end));
      }
    }
  });

  it('reads fields in quotes, and tells titles from values', () => {
    const column = (text: string, column = 1) => decode(csv(column, 8), text);
    assert.deepEqual([...column('"200"\n"7"\n')], [200, 7]);
    assert.deepEqual([...column('"time, s",value\n"1,5",7\n"2,5",8\n', 2)], [7, 8]);
    assert.deepEqual([...column('1,5;7\n2,5;8', 2)], [7, 8]);
    assert.deepEqual([...column('  1   200\n 10    7\n', 2)], [200, 7]);
    for (const first of ['-1', '1.5', '"1e3"', '0x1f']) {
      assert.throws(() => column(`${first}\n7\n`), /line 1/, first);
    }
  });

  it('reads a column in hexadecimal, of as many digits each', () => {
    const decodeAll = (decoder: Decoder, text: string) => decode(decoder, text, text.length);
    const text = 'n,value\n1,0x1f\n2,0x07\n';
    assert.deepEqual([...decodeAll(csv(2, 'hex'), text)], [0x1f, 0x07]);
    assert.deepEqual([...decodeAll(csv(1, 'hex'), 'beef\n0001\n')], [0xbe, 0xef, 0, 1]);
    for (const rest of ['7', '1f0', 'xy', '0x', '']) {
      const faulty = `n,value\n1,1f\n2,${rest}\n`;
      assert.throws(() => decodeAll(csv(2, 'hex'), faulty), /line 3/, rest);
    }
    // The first line is no title if it holds digits.
    assert.throws(() => decodeAll(csv(1, 'hex'), 'f\n1f\n'), /line 1 has "f", expected 2/);
    assert.throws(() => decodeAll(csv(2, 8), 'n,value\n1,12\n2,1f\n'), /line 3 has "1f"/);
  });

  it('gives each value a byte of its own', () => {
    const spread = decode(
      new CsvDecoder({ column: 1, numerals: 5 }, { isSpread: true }),
      '31\n0\n7',
    );
    assert.deepEqual([...spread], [31, 0, 7]);
  });

  it('refuses a line without an end', () => {
    const decoder = csv(1, 1);
    assert.throws(() => decode(decoder, '1,0,'.repeat(2 ** 20)), /line 1 does not end/);
  });

  it('measures each column, and chooses the only one that can be the samples', () => {
    const measure = (text: string) => {
      const { columns, chosen } = columnsOf(text);
      return { widths: columns.map(({ width }) => width), chosen };
    };
    const rows = [...BYTES].map((byte, i) => `${1_700_000_000 + i},${byte}`).join('\n');
    assert.deepEqual(measure(`time,value\n${rows}`), { widths: [31, 8], chosen: 2 });
    assert.deepEqual(measure('a,b\n1,2\n0,1\n1,'), { widths: [1, 2], chosen: null });
    assert.deepEqual(measure('200\n7\n4095\n1'), { widths: [12], chosen: 1 });
    assert.deepEqual(measure('1.5\n2.5'), { widths: [null], chosen: 1 });
    assert.deepEqual(measure(''), { widths: [null], chosen: null });
    assert.deepEqual(measure('1,4294967296'), { widths: [1, 33], chosen: null });
    assert.deepEqual(measure('a,4294967296'), { widths: [null, 33], chosen: 2 });
  });
});

describe('NumbersDecoder', () => {
  it('packs numbers with any separators, wherever the chunks end', () => {
    const text = ' 12, 200;33\r\n7\t250 ';
    for (let cut = 0; cut <= text.length; cut++) {
      const bytes = decode(numbers(8), text, cut);
      assert.deepEqual([...bytes], [12, 200, 33, 7, 250]);
    }
    assert.deepEqual([...decode(numbers(8), '[[12, 200], [33]]\n')], [12, 200, 33]);
    const bits = decode(numbers(1), '1,0,1,1,0,0,1,0');
    assert.deepEqual([...bits], [0b10110010]);
  });

  it('counts to the number that is none, or too large', () => {
    for (const text of ['1 x 2', '1 256', '1, -1']) {
      assert.throws(() => decode(numbers(8), text), /number 2 has/, text);
    }
    const endless = '1'.repeat(3000);
    assert.throws(() => decode(numbers(8), endless), /number 1 does not end/);
  });

  it('measures the numbers', () => {
    const texts = ['1 0 1', '12 200 33 9', '11920045597 1', '1 x 3', ''];
    assert.deepEqual(texts.map(proposeNumbers), [1, 8, 34, null, null]);
  });
});

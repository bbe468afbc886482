/** What the test bench reads beside the formats of the package, and how it recognises all of them. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { aesCtr } from '../../../../test/support/aes-stream.ts';
import { guessFormat } from '../../src/index-node.ts';
import { Base64Decoder } from '../../testbench/src/decode/base64.ts';
import { CsvDecoder, proposeCsv } from '../../testbench/src/decode/csv.ts';
import { DecodeError, type Decoder } from '../../testbench/src/decode/decoder.ts';
import { NumbersDecoder, proposeNumbers } from '../../testbench/src/decode/numbers.ts';
import { isGzip, recognise } from '../../testbench/src/decode/recognise.ts';

const BYTES = aesCtr(Buffer.alloc(32, 23), 3000);

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
  const numbers = [...BYTES].join('\n');
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
    ['decimal numbers, which may be hexadecimal', numbers, null],
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
  for (const [name, content, encoding] of cases) {
    it(`says ${encoding ?? 'that it is unsure'} for ${name}`, () => {
      assert.equal(recognise(Buffer.from(content)).encoding, encoding);
    });
  }

  it('names no option of the command line', () => {
    const lines = Array.from(
      { length: 64 },
      (_, i) => `${(16 * i).toString(16).padStart(8, '0')}  `,
    );
    const listing = lines
      .map((line, i) => line + BYTES.toString('hex', 16 * i, 16 * i + 16).replace(/../g, '$& '))
      .join('\n');
    const { reason } = recognise(Buffer.from(listing));
    assert.match(reason, /a listing with offsets.*does not read: give the bytes themselves/);
    assert.doesNotMatch(reason, /--/);
  });

  it('says what to do about numbers with 0x that lack leading zeros', () => {
    for (const odd of ['0x7', '0000']) {
      const head = Buffer.from(`${'0x1f, 0x4c, '.repeat(50)}${odd}, 0x12, `);
      const { encoding, reason } = recognise(head);
      assert.equal(encoding, null);
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
        const text = bytes.toString(alphabet).replace(/.{7}/g, '$& \n');
        for (let cut = 0; cut < Math.min(9, text.length); cut++) {
          assert.deepEqual(decode(new Base64Decoder(), text, cut), Buffer.from(bytes));
        }
      }
    }
  });

  it('refuses other characters, digits after the end, and an incomplete group', () => {
    for (const text of ['AAA*', 'AA==AAAA', 'AAAAA']) {
      assert.throws(() => decode(new Base64Decoder(), text), DecodeError, text);
    }
  });
});

describe('CsvDecoder', () => {
  it('packs a column of bytes', () => {
    const text = `n;value\r\n${[...BYTES].map((byte, i) => `${i};${byte}`).join('\r\n')}\r\n`;
    assert.deepEqual(decode(new CsvDecoder({ column: 2, bits: 8 }), text), BYTES);
  });

  it('packs values of any width, the most significant bit first', () => {
    const bits = decode(new CsvDecoder({ column: 1, bits: 1 }), '1\n0\n1\n0\n0\n1\n1\n1\n1');
    assert.deepEqual([...bits], [0b10100111]);
    const words = decode(new CsvDecoder({ column: 1, bits: 12 }), '2748\n3567\n');
    assert.equal(words.toString('hex'), 'abcdef');
  });

  it('names the line of a value that is no whole number, too large or missing, and what to do', () => {
    for (const line of ['x', '256', '-1', '1.5']) {
      assert.throws(() => decode(new CsvDecoder({ column: 1, bits: 8 }), `1\n${line}\n`), /line 2/);
    }
    const second = (text: string) => decode(new CsvDecoder({ column: 2, bits: 8 }), text);
    assert.throws(() => second('1,2\n1\n'), /line 2 has no column 2: choose another column/);
    assert.throws(() => second('1,2\n1,\n'), /line 2 has nothing in column 2: choose another/);
    assert.throws(() => second('1,256\n'), /needs more than 8 bits: raise "Bits per value"/);
    assert.throws(() => second('1,4294967296\n'), /needs more than 32 bits, the most/);
  });

  it('reads carriage returns as line ends, wherever the chunks end', () => {
    for (const end of ['\r', '\r\n', '\n']) {
      const text = ['value', '1', '2', '', '250', ''].join(end);
      for (let cut = 0; cut <= text.length; cut++) {
        const bytes = decode(new CsvDecoder({ column: 1, bits: 8 }), text, cut);
        assert.deepEqual([...bytes], [1, 2, 250], JSON.stringify(end));
      }
    }
  });

  it('reads fields in quotes, and tells titles from values', () => {
    const column = (text: string, column = 1) => decode(new CsvDecoder({ column, bits: 8 }), text);
    assert.deepEqual([...column('"200"\n"7"\n')], [200, 7]);
    assert.deepEqual([...column('"time, s",value\n"1,5",7\n"2,5",8\n', 2)], [7, 8]);
    assert.deepEqual([...column('1,5;7\n2,5;8', 2)], [7, 8]);
    assert.deepEqual([...column('  1   200\n 10    7\n', 2)], [200, 7]);
    for (const first of ['-1', '1.5', '"1e3"', '0x1f']) {
      assert.throws(() => column(`${first}\n7\n`), /line 1/, first);
    }
  });

  it('gives each value a byte of its own', () => {
    const spread = decode(new CsvDecoder({ column: 1, bits: 5, isSpread: true }), '31\n0\n7');
    assert.deepEqual([...spread], [31, 0, 7]);
  });

  it('refuses a line without an end', () => {
    const decoder = new CsvDecoder({ column: 1, bits: 1 });
    assert.throws(() => decode(decoder, '1,0,'.repeat(2 ** 20)), /line 1 does not end/);
  });

  it('measures each column, and proposes the last one of whole numbers', () => {
    const rows = [...BYTES].map((byte, i) => `${1_700_000_000 + i},${byte}`).join('\n');
    assert.deepEqual(proposeCsv(`time,value\n${rows}`), { widths: [31, 8], column: 2 });
    assert.deepEqual(proposeCsv('a,b\n1,2\n0,1\n1,'), { widths: [1, 2], column: 2 });
    assert.deepEqual(proposeCsv('200\n7\n4095\n1'), { widths: [12], column: 1 });
    assert.deepEqual(proposeCsv('1,5,\n2,6,\n3,7,'), { widths: [2, 3, null], column: 2 });
    assert.deepEqual(proposeCsv('1.5\n2.5'), { widths: [null], column: 1 });
    assert.deepEqual(proposeCsv(''), { widths: [null], column: 1 });
    // Wider than a sample may be: another column is proposed, if there is one.
    assert.deepEqual(proposeCsv('1,4294967296'), { widths: [1, 33], column: 1 });
    assert.deepEqual(proposeCsv('a,4294967296'), { widths: [null, 33], column: 2 });
  });
});

describe('NumbersDecoder', () => {
  it('packs numbers with any separators, wherever the chunks end', () => {
    const text = ' 12, 200;33\r\n7\t250 ';
    for (let cut = 0; cut <= text.length; cut++) {
      const bytes = decode(new NumbersDecoder({ bits: 8 }), text, cut);
      assert.deepEqual([...bytes], [12, 200, 33, 7, 250]);
    }
    assert.deepEqual(
      [...decode(new NumbersDecoder({ bits: 8 }), '[[12, 200], [33]]\n')],
      [12, 200, 33],
    );
    const bits = decode(new NumbersDecoder({ bits: 1 }), '1,0,1,1,0,0,1,0');
    assert.deepEqual([...bits], [0b10110010]);
  });

  it('counts to the number that is none, or too large', () => {
    for (const text of ['1 x 2', '1 256', '1, -1']) {
      assert.throws(() => decode(new NumbersDecoder({ bits: 8 }), text), /number 2 has/, text);
    }
    const endless = '1'.repeat(3000);
    assert.throws(() => decode(new NumbersDecoder({ bits: 8 }), endless), /number 1 does not end/);
  });

  it('measures the numbers', () => {
    const texts = ['1 0 1', '12 200 33 9', '11920045597 1', '1 x 3', ''];
    assert.deepEqual(texts.map(proposeNumbers), [1, 8, 34, null, null]);
  });
});

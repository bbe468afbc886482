/** What the test bench reads beside the formats of the package, and how it recognises all of them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Base64Decoder } from '../../dashboard/testbench/src/decode/base64.ts';
import { CsvDecoder, proposeCsv } from '../../dashboard/testbench/src/decode/csv.ts';
import { DecodeError, type Decoder } from '../../dashboard/testbench/src/decode/decoder.ts';
import { isGzip, recognise } from '../../dashboard/testbench/src/decode/recognise.ts';
import { aesCtr } from '../support/aes-stream.ts';

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
    ['a text', 'The quick brown fox; it jumps. '.repeat(5), null],
    ['nothing', '', null],
  ];
  for (const [name, content, encoding] of cases) {
    it(`says ${encoding ?? 'that it is unsure'} for ${name}`, () => {
      assert.equal(recognise(Buffer.from(content)).encoding, encoding);
    });
  }

  it('knows gzip', () => {
    assert.deepEqual([isGzip(gzipSync(BYTES)), isGzip(BYTES)], [true, false]);
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

  it('names the line of a value that is no whole number, too large or missing', () => {
    for (const line of ['x', '256', '-1', '1.5']) {
      assert.throws(() => decode(new CsvDecoder({ column: 1, bits: 8 }), `1\n${line}\n`), /line 2/);
    }
    assert.throws(() => decode(new CsvDecoder({ column: 2, bits: 8 }), '1,2\n1\n'), /no column 2/);
  });

  it('proposes the number of columns and a width', () => {
    assert.deepEqual(proposeCsv('a,b\n1,2\n0,1\n1,'), { columns: 2, bits: 1 });
    assert.deepEqual(proposeCsv('200\n7\n300\n1'), { columns: 1, bits: 16 });
  });
});

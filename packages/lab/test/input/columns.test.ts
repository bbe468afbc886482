/** Which column of a text is read: the one that is named, or the only one that can be the samples. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { recogniseForm } from '../../src/index-node.ts';
import { readForm, refusal } from '../support/read-form.ts';

const BYTES = aesCtr(Buffer.alloc(32, 71), 600);
const HEX = BYTES.toString('hex');

const rows = (row: (byte: number, i: number) => string, title = ''): Buffer =>
  Buffer.from(`${title}${Array.from(BYTES, (byte, i) => `${row(byte, i)}\n`).join('')}`);

describe('columns without a name', () => {
  const sound: readonly (readonly [what: string, text: Buffer, column: number])[] = [
    ['one column', rows((byte) => `${byte}`, 'value\n'), 1],
    ['a counter before them', rows((byte, i) => `${i},${byte}`, 'n,value\n'), 2],
    ['a counter after them', rows((byte, i) => `${byte};${7 * i}`), 1],
    ['times in seconds', rows((byte, i) => `${1e9 + Math.floor(i / 9)},${byte}`), 2],
    ['times with a fraction', rows((byte, i) => `${(i * 0.013).toFixed(3)};${byte}`), 2],
    ['times as text', rows((byte, i) => `12:00:${i % 60} UTC,${byte}`), 2],
    ['a channel', rows((byte) => `3\t${byte}`, 'channel\tvalue\n'), 2],
    ['words', rows((byte) => `${byte},high`), 1],
    ['a separator at each end', rows((byte) => `${byte},`), 1],
  ];
  for (const [what, text, column] of sound) {
    it(`are read and advised: ${what}`, async () => {
      const { hex, format } = await readForm(text, 'csv');
      assert.deepEqual([hex, format], [HEX, `csv:${column}:8`]);
      const remedy = recogniseForm(text)?.remedy;
      if (remedy?.kind === 'format' && remedy.format !== 'numbers') {
        assert.equal(remedy.format, `csv:${column}`);
      }
    });
  }

  const unsure: readonly (readonly [what: string, text: Buffer, says: RegExp])[] = [
    [
      'signed samples after a random number',
      rows((byte, i) => `${byte},${((BYTES[i ^ 1] as number) % 7) - 3}`, 'id,v\n'),
      /column 1 holds whole numbers of 8 bits, column 2 holds signed, .* numbers: name .*csv:COLUMN/,
    ],
    [
      'signed samples after a counter',
      rows((byte, i) => `${i},${byte - 128}`),
      /column 1 holds a counter or a time, column 2 holds signed/,
    ],
    ['fractions after a counter', rows((byte, i) => `${i},${byte / 10}`), /column 2 holds signed/],
    [
      'decimal commas after a counter',
      rows((byte, i) => `${i};${`${byte / 10}`.replace('.', ',')}`),
      /column 2 holds signed/,
    ],
    ['some missing', rows((byte, i) => `${byte},${i === 9 ? 'NaN' : byte}`), /column 2 .* missing/],
    ['two of them', rows((byte) => `${byte},${byte >> 1}`, 'a,b\n'), /of 8 bits, .* of 7 bits/],
    ['a counter alone beside a constant', rows((_, i) => `${i},5`), /the same in every row/],
  ];
  for (const [what, text, says] of unsure) {
    it(`have no verdict: ${what}`, async () => {
      const { code, message } = await refusal(text, 'csv');
      assert.equal(code, 'wrong-form');
      assert.match(message, says);
      const form = recogniseForm(text);
      const advice = form?.remedy.kind === 'advice' ? form.remedy.advice : form?.remedy.kind;
      assert.match(`${form?.says}: ${advice}`, says);
      assert.match(String(advice), /csv:COLUMN/);
    });
  }

  it('are advised as hexadecimal numbers beside a counter, and not read as others', async () => {
    const text = rows((byte, i) => `${i},${byte.toString(16).padStart(2, '0')}`, 'n,raw\n');
    assert.deepEqual(recogniseForm(text)?.remedy, { kind: 'format', format: 'csv:2:hex' });
    assert.match((await refusal(text, 'csv')).message, /column 2 holds hexadecimal.*csv:2:hex/);
  });

  it('that the format names and the text lacks is refused by its number', async () => {
    const table = (columns: number) => Buffer.from(`${'1,'.repeat(columns - 1)}1\n`.repeat(50));
    assert.match((await refusal(table(2), 'csv:3')).message, /has 2 columns, and no column 3/);
    assert.match((await refusal(table(1), 'csv:2')).message, /has 1 column, and no column 2/);
  });

  it('are read whatever they hold if one is named', async () => {
    const text = rows((byte, i) => `${byte},${i % 7}`);
    assert.equal((await readForm(text, 'csv:1:8')).hex, HEX);
  });
});

describe('lists of numbers', () => {
  const list = [...BYTES];
  const texts: readonly (readonly [what: string, text: string, format: string | null])[] = [
    ['JSON on one line', JSON.stringify(list), 'numbers'],
    ['JSON with an indent', JSON.stringify(list, null, 1), 'numbers'],
    ['numbers on one line', list.join(','), 'numbers'],
    ['numbers in rows', `${list.join(' ')} `.replace(/((?:\d+ ){16})/g, '$1\n'), null],
    [
      'an array of C',
      `unsigned char x[] = {\n${HEX.replace(/../g, '0x$&, ').replace(/(?:.{6}){12}/g, '  $&\n')}\n};\n`,
      null,
    ],
  ];
  for (const [what, text, format] of texts) {
    it(`are read by the format that is advised: ${what}`, async () => {
      const remedy = recogniseForm(Buffer.from(text))?.remedy;
      assert.deepEqual(remedy?.kind === 'format' ? remedy.format : null, format);
      if (format) assert.equal((await readForm(Buffer.from(text), format)).hex, HEX);
    });
  }

  it('say how they are read if no format reads them', async () => {
    const [rowsOf, array] = texts.slice(3).map(([, text]) => recogniseForm(Buffer.from(text)));
    assert.match(rowsOf?.says ?? '', /columns 1 to 16 hold whole numbers of 8 bits$/);
    assert.match(JSON.stringify(rowsOf?.remedy), /csv:COLUMN, or numbers to read all/);
    assert.match(array?.says ?? '', /array of C, as xxd -i writes it/);
    // What the advised command writes.
    const numbers = texts[4]?.[1].match(/0x[0-9a-f][0-9a-f]/g) ?? [];
    assert.equal((await readForm(Buffer.from(numbers.join('\n')), 'hex')).hex, HEX);
  });
});

describe('rows with another number of cells', () => {
  const cases: readonly (readonly [what: string, text: string, format: string, says: RegExp])[] = [
    [
      'a decimal comma',
      't,v\n0,1,55\n1,1,42\n',
      'csv:2:8',
      /^line 2 has 3 cells, and line 1 has 2/,
    ],
    ['one without a choice', 't,v\n0,1,55\n1,1,42\n', 'csv', /^line 2 has 3 cells, .* 1 has 2/],
    ['a title of one column', 'v\n20,8\n', 'csv:1:8', /^line 2 has 2 cells, and line 1 has 1/],
    ['a short row', '1,2,3\n4,5\n', 'csv:1:8', /^line 2 has 2 cells, and line 1 has 3/],
    ['a long row', '1 2\n\n4 5 6\n', 'csv:1:8', /^line 3 has 3 cells, and line 1 has 2/],
  ];
  for (const [what, text, format, says] of cases) {
    it(`are refused: ${what}`, async () => {
      const { code, message } = await refusal(Buffer.from(text), format);
      assert.equal(code, 'wrong-form');
      assert.match(message, says);
    });
  }

  it('may differ by a separator at the end, and by words of a title', async () => {
    assert.equal((await readForm(Buffer.from('1,\n2,\n3'), 'csv:1:8')).hex, '010203');
    assert.equal((await readForm(Buffer.from('1\n2,\n3'), 'csv:1:8')).hex, '010203');
    assert.equal((await readForm(Buffer.from('raw values\n1\n2\n'), 'csv:1:8')).hex, '0102');
  });
});

describe('what is not read says what to do', () => {
  const decimal = BYTES.subarray(0, 64).join(' ');
  const utf16 = Buffer.from('value\n1\n2\n', 'utf16le');
  const offsets = (line: string): string => `0000000 ${line}\n0000020 ${line}\n0000040\n`;
  const cases: readonly (readonly [what: string, text: Buffer, format: string, says: RegExp])[] = [
    ...['-60', '224.0', 'NaN'].map(
      (cell) =>
        [
          `a cell ${cell}`,
          Buffer.from(`v\n6\n${cell}\n`),
          'csv:1:8',
          /^line 3 has .*, fractional and missing numbers are not read; write the whole numbers/,
        ] as const,
    ),
    ['signed numbers', Buffer.from('v\n-6\n2\n1\n'), 'csv:1', /not begin .* are not read; write/],
    ['lines left out', Buffer.from(`${decimal}\n*\n7`), 'numbers:8', /^number 65 has .*: .* od -v/],
    [
      'lines left out at the start',
      Buffer.from(`${decimal}\n*\n7`),
      'numbers',
      /the text has .*: .* od -v/,
    ],
    ['UTF-16', utf16, 'csv:1:8', /in UTF-16: save it as UTF-8/],
    ['UTF-16 with a mark', Buffer.from('\ufeff1 2 3', 'utf16le'), 'numbers', /in UTF-16: save/],
    [
      'od -tu1',
      Buffer.from(offsets(' 176  12 255   0 176  12 255   0 176  12 255   0 176  12 255   9')),
      'listing',
      /^line 1: expected bytes or words in hexadecimal or octal digits.*decimal.* od -An -v -tx1/,
    ],
    [
      'od -c',
      Buffer.from(offsets(' 261   h   t   d \\f   z   M   o   p   ,   -   u   v   w   x   y')),
      'listing',
      /^line 1: expected bytes in groups of digits: .*characters.* od -An -v -tx1/,
    ],
  ];
  for (const [what, text, format, says] of cases) {
    it(what, async () => assert.match((await refusal(text, format)).message, says));
  }
});

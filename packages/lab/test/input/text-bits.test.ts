import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unpackBits } from '../../../sp800-22/src/index-node.ts';
import { TextBitReader, type TextFault, type TextFormat } from '../../src/index-node.ts';

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Reads `limit` bits of the chunks. Returns the bits as digits, or the fault. */
function readText(
  format: TextFormat,
  chunks: readonly string[],
  limit: number,
): string | TextFault {
  const reader = new TextBitReader(format);
  const packed = new Uint8Array(Math.ceil(limit / 8));
  let bits = 0;
  for (const chunk of chunks) {
    reader.feed(ascii(chunk));
    const reached = reader.read(packed, bits, limit);
    if (typeof reached !== 'number') return reached;
    bits = reached;
  }
  reader.end();
  const reached = reader.read(packed, bits, limit);
  if (typeof reached !== 'number') return reached;
  bits = reached;
  return unpackBits(packed, bits).join('');
}

test('reads ASCII bits in chunks and ignores whitespace', () => {
  assert.equal(readText('ascii', [' 10\r\n1', '1\t0 \n\v\f'], 8), '10110');
});

test('reads hexadecimal digits of either case as four bits, most significant first', () => {
  assert.equal(readText('hex', ['0 8\nf', 'F\ta'], 100), '00001000111111111010');
});

test('ignores prefixes, separators and a byte order mark in hexadecimal text', () => {
  const bits = '0000'.repeat(2) + unpackBits(Uint8Array.of(0x12, 0xab, 0xc0)).join('');
  for (const text of ['0x00, 0x12, 0xAB, 0XC0', '00:12:ab:c0', '0-0-1-2 ab_c0', '\ufeff0012abc0']) {
    for (const size of [1, 2, text.length]) {
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      assert.equal(readText('hex', chunks, 100), bits, `${text} in chunks of ${size}`);
    }
  }
  assert.equal(readText('ascii', ['\ufeff01'], 9), '01');
  // A 0 that might begin a prefix may end the text or the sequence.
  assert.equal(readText('hex', ['1 0'], 100), '00010000');
  assert.equal(readText('hex', ['0', 'f'], 3), '000');
});

test('refuses a prefix within a number, a mark within the text, and separators in ASCII', () => {
  const faults: [TextFormat, string, number][] = [
    ['hex', '10x1', 3],
    ['hex', '0x0x1', 4],
    ['hex', 'x1', 1],
    ['hex', '1\ufeff', 2],
    ['ascii', '0,1', 2],
    ['ascii', '0x1', 2],
  ];
  for (const [format, text, column] of faults) {
    const fault = readText(format, [text], 100);
    assert.equal(typeof fault !== 'string' && fault.column, column, text);
  }
});

test('refuses numbers with 0x of different lengths, and some without 0x', () => {
  const faults: [text: string, column: number, kind: string][] = [
    ['0x1f 0x7 0x1c', 6, 'uneven'],
    ['0x7,0x1f', 5, 'uneven'],
    ['0x7:0x1f:', 5, 'uneven'],
    ['0x1f_0x7', 6, 'uneven'],
    ['0x1f 0x1c 0x0', 11, 'uneven'],
    ['0x1f 0x', 6, 'uneven'],
    ['0x1f 0000 0x07', 11, 'mixed'],
    ['0000 0x1f 0x07', 11, 'mixed'],
    ['0x1f 0x07 0', 11, 'mixed'],
  ];
  for (const [text, column, kind] of faults) {
    for (const size of [1, 3, text.length]) {
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const fault = readText('hex', chunks, 1000);
      assert.ok(typeof fault !== 'string', text);
      assert.deepEqual([fault.line, fault.column, fault.number?.kind], [1, column, kind], text);
    }
  }
  assert.deepEqual(readText('hex', ['0x1f\n0x1c\n 0x', '123'], 1000), {
    line: 3,
    column: 2,
    byte: 0x30,
    number: { kind: 'uneven', digits: 3, expected: 2 },
  });
});

test('reads a single 0x before wrapped digits, and joints within numbers', () => {
  const bits = (text: string) => readText('hex', [text], 1000);
  assert.equal(bits('0x5c3f\n99\n1'), bits('5c3f991'));
  assert.equal(bits('0x5c_3f, 0x99_1a'), bits('5c3f991a'));
  // Without 0x, the end of a line may be shorter.
  assert.equal(bits('5c3f\n99\n1a2b'), bits('5c3f991a2b'));
  // Digits after the last bit are not read.
  assert.equal(readText('hex', ['0x1f 0x7'], 8), '00011111');
});

test('leaves the rest of a digit to the next sequence', () => {
  const reader = new TextBitReader('hex');
  reader.feed(ascii('5c3'));
  const sequences = [5, 5, 5].map((limit) => {
    const packed = new Uint8Array(1);
    const bits = reader.read(packed, 0, limit);
    assert.ok(typeof bits === 'number');
    return unpackBits(packed, bits).join('');
  });
  assert.deepEqual(sequences, ['01011', '10000', '11']);
});

test('names line and column of the first character that is not a digit', () => {
  assert.deepEqual(readText('ascii', ['0101\n01', '1x01'], 100), {
    line: 2,
    column: 4,
    byte: 0x78,
  });
  assert.deepEqual(readText('hex', ['ab\n\n', ' g'], 100), { line: 3, column: 2, byte: 0x67 });
  assert.deepEqual(readText('ascii', ['\u00e9'], 100), { line: 1, column: 1, byte: 0xc3 });
});

test('reads nothing after the last bit that fits', () => {
  assert.equal(readText('ascii', ['10this is not read'], 2), '10');
  assert.equal(readText('hex', ['a', 'this is not read'], 3), '101');
});

test('reads the same bits from text, however it is cut into chunks', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 1, max: 9 }), (bytes, size) => {
      const text = Buffer.from(bytes).toString('hex');
      const chunks = text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      assert.equal(readText('hex', chunks, bytes.length * 8), unpackBits(bytes).join(''));
    }),
  );
});

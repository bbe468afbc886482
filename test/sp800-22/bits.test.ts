import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TextBitReader, type TextFault, type TextFormat, unpackBits } from '#sp800-22';

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

test('unpacks bytes with the most significant bit first', () => {
  assert.deepEqual([...unpackBits(Uint8Array.of(0b10110010, 0x01))].join(''), '1011001000000001');
});

test('counts every bit of a length that is not a multiple of 8 or 32', () => {
  assert.equal(unpackBits(Uint8Array.of(0xff, 0x80), 9).join(''), '111111111');
  assert.equal(unpackBits(new Uint8Array(13), 99).length, 99);
});

test('unpacking inverts packing', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const binary = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
      assert.equal(unpackBits(bytes).join(''), binary);
    }),
  );
});

test('refuses to unpack more bits than exist, or anything but bytes', () => {
  assert.throws(() => unpackBits(new Uint8Array(1), 9), {
    name: 'RangeError',
    message: '"lengthBits" expected an integer from 0 to 8, got 9',
  });
  assert.throws(() => unpackBits(new Uint8Array(1), 1.5), RangeError);
  assert.throws(() => unpackBits('11' as unknown as Uint8Array), {
    name: 'TypeError',
    message: '"bytes" expected Uint8Array, got string',
  });
});

test('unpacks from any bit offset: the parts equal the whole', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 32 }), fc.nat(), (bytes, at) => {
      const offset = at % (bytes.length * 8 + 1);
      const parts = [
        ...unpackBits(bytes, offset),
        ...unpackBits(bytes, bytes.length * 8 - offset, offset),
      ];
      assert.deepEqual(parts, [...unpackBits(bytes)]);
    }),
  );
  assert.throws(() => unpackBits(new Uint8Array(2), 9, 8), {
    message: '"lengthBits" expected an integer from 0 to 8, got 9',
  });
  assert.throws(() => unpackBits(new Uint8Array(2), 1, 17), RangeError);
});

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
  return unpackBits(packed, bits).join('');
}

test('reads ASCII bits in chunks and ignores whitespace', () => {
  assert.equal(readText('ascii', [' 10\r\n1', '1\t0 \n\v\f'], 8), '10110');
});

test('reads hexadecimal digits of either case as four bits, most significant first', () => {
  assert.equal(readText('hex', ['0 8\nf', 'F\ta'], 100), '00001000111111111010');
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

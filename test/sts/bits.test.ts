import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AsciiBitReader, unpackBits } from '../../src/sts/index.ts';

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

test('unpacks bytes with the most significant bit first', () => {
  assert.deepEqual([...unpackBits(Uint8Array.of(0b10110010, 0x01))].join(''), '1011001000000001');
});

test('counts every bit of a length that is no multiple of 8 or 32', () => {
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

test('refuses to unpack more bits than there are, and what is not bytes', () => {
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

test('reads ASCII bits in chunks and ignores whitespace', () => {
  const into = new Uint8Array(8);
  const reader = new AsciiBitReader(into);
  assert.equal(reader.write(ascii(' 10\r\n1')), null);
  assert.equal(reader.write(ascii('1\t0 \n')), null);
  assert.equal(reader.count, 5);
  assert.equal(reader.isFull, false);
  assert.equal(into.subarray(0, 5).join(''), '10110');
});

test('names line and column of the first character that is not a bit', () => {
  const reader = new AsciiBitReader(new Uint8Array(100));
  assert.equal(reader.write(ascii('0101\n01')), null);
  assert.deepEqual(reader.write(ascii('1x01')), { line: 2, column: 4, byte: 0x78 });
});

test('looks at nothing behind the last bit that fits', () => {
  const reader = new AsciiBitReader(new Uint8Array(2));
  assert.equal(reader.write(ascii('10this is not read')), null);
  assert.equal(reader.isFull, true);
});

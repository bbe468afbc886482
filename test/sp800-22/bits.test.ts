import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unpackBits } from '#sp800-22';

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

/** Data that occur twice: found at any byte, across sequences, never in sound data, and bounded. */
import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { test } from 'node:test';
import {
  type Repeat,
  Repeats,
  repeatBound,
} from '../../../packages/sp800-22/src/source-rule/repeats.ts';

const SEQUENCE_BYTES = 125_000;

function soundBytes(length: number): Buffer {
  return createCipheriv('aes-256-ctr', Buffer.alloc(32, 5), Buffer.alloc(16)).update(
    Buffer.alloc(length),
  );
}

/** Returns the first repeat of data that are cut into sequences. */
function repeatOf(bytes: Buffer, sequenceBytes = SEQUENCE_BYTES): Repeat | undefined {
  const repeats = new Repeats();
  const sequences = Math.floor(bytes.length / sequenceBytes);
  for (let i = 0; i < sequences; i++) {
    const part = bytes.subarray(i * sequenceBytes, (i + 1) * sequenceBytes);
    repeats.add({ bytes: part, n: 8 * part.length, offsetBits: 0 }, i + 1);
  }
  return repeats.within(sequences);
}

test('sound data have no repeat', () => {
  assert.equal(repeatOf(soundBytes(40 * SEQUENCE_BYTES)), undefined);
});

for (const start of [20 * SEQUENCE_BYTES, 20 * SEQUENCE_BYTES + 1, 20 * SEQUENCE_BYTES + 77_777]) {
  test(`a generator that starts again after ${start} bytes is found, with both places`, () => {
    const first = soundBytes(start);
    const repeat = repeatOf(Buffer.concat([first, first.subarray(0, 5 * SEQUENCE_BYTES)]));
    assert.ok(repeat);
    const at = (repeat.sequence - 1) * SEQUENCE_BYTES + repeat.bit / 8;
    const earlier = (repeat.earlier_sequence - 1) * SEQUENCE_BYTES + repeat.earlier_bit / 8;
    assert.equal(at - earlier, start);
    // About one place in 4,096 is compared.
    assert.ok(at < start + 65_536, `found at ${at}`);
  });
}

test('a sequence that begins within a byte is compared by whole bytes, and its place counts from its first bit', () => {
  const bytes = soundBytes(50_000);
  const repeats = new Repeats();
  repeats.add({ bytes, n: 8 * bytes.length - 3, offsetBits: 3 }, 1);
  repeats.add({ bytes, n: 8 * bytes.length - 5, offsetBits: 5 }, 2);
  const repeat = repeats.within(2);
  assert.ok(repeat);
  assert.equal(repeat.earlier_bit - repeat.bit, 2);
});

test('a repeat in a sequence that was not finished does not count', () => {
  const bytes = soundBytes(50_000);
  const repeats = new Repeats();
  for (const sequence of [1, 2]) repeats.add({ bytes, n: 400_000, offsetBits: 0 }, sequence);
  assert.equal(repeats.within(1), undefined);
  assert.equal(repeats.within(2)?.sequence, 2);
});

test('zeros repeat within a few bytes, and texts have no places to compare', () => {
  assert.equal(repeatOf(Buffer.alloc(40), 40)?.bit, 8);
  assert.equal(repeatOf(Buffer.alloc(80_000, 'text without zeros '), 40_000), undefined);
});

test('the bound is the number of pairs times 2^-88, and more for places that overlap', () => {
  assert.ok(repeatBound(2 ** 30) < 1e-8);
  assert.ok(repeatBound(2 ** 30) > 2 ** 59 * 2 ** -88);
  assert.equal(repeatBound(2 ** 50), 1);
});

test('a place is 12 zero bits and the 8 bytes behind them, up to the end of a sequence', () => {
  const word = Buffer.from('0123456789abcdef', 'hex');
  const sequence = (mark: string, after = ''): Buffer =>
    Buffer.concat([Buffer.from(`ff${mark}`, 'hex'), word, Buffer.from(after, 'hex')]);
  for (const [bytes, bit] of [
    [sequence('000f'), 8],
    [sequence('0000', 'ff'), 8],
    [sequence('0010'), undefined],
    [sequence('000f').subarray(0, -1), undefined],
  ] as const) {
    assert.equal(repeatOf(Buffer.concat([bytes, bytes]), bytes.length)?.bit, bit);
  }
});

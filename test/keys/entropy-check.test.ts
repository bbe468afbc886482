import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type EntropyStatistic,
  entropyCheck,
  failedKeyTest,
  repeatsBlock,
} from '../../src/keys/entropy-check.ts';

const DISTANCES = [0, 1, 8, 16, 32, 64];

function statisticsOf(lengthBytes: number): readonly EntropyStatistic[] {
  return entropyCheck(Buffer.alloc(lengthBytes)).statistics;
}

function lowerCutoffs(lengthBytes: number): number[] {
  return statisticsOf(lengthBytes).map(({ lowest }) => lowest - 1);
}

/** Returns C(n, 0) … C(n, n) by Pascal's rule. */
function pascalRow(n: number): bigint[] {
  let row = [1n];
  for (let i = 0; i < n; i++) row = [...row, 0n].map((value, k) => value + (row[k - 1] ?? 0n));
  return row;
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

/** Counts on the bits as characters, straight from the definition. */
function literalCount(key: Uint8Array, distance: number): number {
  const bits = [...key].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  if (distance === 0) return [...bits].filter((bit) => bit === '1').length;
  return [...bits].filter((bit, i) => i >= distance && bit !== bits[i - distance]).length;
}

function repeated(unit: readonly number[], lengthBytes: number): Buffer {
  return Buffer.from(Array.from({ length: lengthBytes }, (_, i) => unit[i % unit.length]));
}

describe('the entropy check', () => {
  it('has the lower cutoffs 18, 18, 16, 14, 9 and 1 for 128 bits', () => {
    assert.deepEqual(lowerCutoffs(16), [18, 18, 16, 14, 9, 1]);
  });

  for (const lengthBytes of [16, 32, 48]) {
    const lengthBits = lengthBytes * 8;

    it(`has the largest cutoffs with tails of at most 2^-54, exactly, for ${lengthBits} bits`, () => {
      for (const [i, { trials, lowest, highest }] of statisticsOf(lengthBytes).entries()) {
        assert.equal(trials, lengthBits - DISTANCES[i]);
        const row = pascalRow(trials);
        const all = 1n << BigInt(trials);
        assert.equal(sum(row), all);
        const lowerTail = (count: number) => sum(row.slice(0, count));
        // `lowest` counts are below `lowest`; one more would exceed the bound.
        assert.ok(lowerTail(lowest) << 54n <= all);
        assert.ok(lowerTail(lowest + 1) << 54n > all);
        assert.equal(highest, trials - lowest);
        assert.equal(sum(row.slice(highest + 1)), lowerTail(lowest));
      }
    });

    it(`fails an honest key of ${lengthBits} bits with probability below 2^-50, exactly`, () => {
      // The six probabilities over the common denominator 2^lengthBits.
      const numerators = statisticsOf(lengthBytes).map(({ trials, lowest }) => {
        const tail = sum(pascalRow(trials).slice(0, lowest));
        return (2n * tail) << BigInt(lengthBits - trials);
      });
      assert.ok(sum(numerators) << 50n < 1n << BigInt(lengthBits));
    });

    it(`fails every repeated unit of 1, 8, 16, 32 or 64 bits, ${lengthBits} bits`, () => {
      // At its distance, a repeated unit has no disagreements; a unit that alternates with its complement has nothing else.
      for (const { lowest } of statisticsOf(lengthBytes)) assert.ok(lowest > 0);
    });

    it(`passes 20,000 keys of ${lengthBits} bits from AES-256-CTR`, () => {
      const cipher = createCipheriv('aes-256-ctr', Buffer.alloc(32, lengthBytes), Buffer.alloc(16));
      const stream = cipher.update(Buffer.alloc(20_000 * lengthBytes));
      for (let i = 0; i < stream.length; i += lengthBytes) {
        const key = stream.subarray(i, i + lengthBytes);
        assert.ok(entropyCheck(key).passed, key.toString('hex'));
      }
    });

    it(`counts what the definition counts, for ${lengthBits} bits`, () => {
      const keyOf = fc.uint8Array({ minLength: lengthBytes, maxLength: lengthBytes });
      fc.assert(
        fc.property(keyOf, (key) => {
          const { passed, statistics } = entropyCheck(key);
          assert.deepEqual(
            statistics.map(({ observed }) => observed),
            DISTANCES.map((distance) => literalCount(key, distance)),
          );
          for (const row of statistics) {
            const inRange = row.lowest <= row.observed && row.observed <= row.highest;
            assert.equal(row.passed, inRange);
          }
          assert.equal(
            passed,
            statistics.every((row) => row.passed),
          );
        }),
      );
    });

    it(`names the first test that the report fails, for ${lengthBits} bits`, () => {
      const keyOf = fc.uint8Array({ minLength: lengthBytes, maxLength: lengthBytes });
      const unitOf = fc.uint8Array({ minLength: 1, maxLength: 8 });
      const repeatedOf = unitOf.map((unit) => repeated([...unit], lengthBytes));
      // A few flipped bits bring the counts to both sides of the limits.
      const nearly = fc.tuple(repeatedOf, fc.array(fc.nat(lengthBits - 1), { maxLength: 20 }));
      const nearlyRepeated = nearly.map(([key, bits]) => {
        for (const bit of bits) key[bit >>> 3] ^= 1 << (bit & 7);
        return key;
      });
      fc.assert(
        fc.property(fc.oneof(keyOf, repeatedOf, nearlyRepeated), (key) => {
          const first = entropyCheck(key).statistics.find(({ passed }) => !passed);
          assert.equal(failedKeyTest(key), first?.name);
        }),
      );
    });

    const broken: readonly (readonly [claim: string, unit: readonly number[]])[] = [
      ['all zeros', [0x00]],
      ['all ones', [0xff]],
      ['alternating bits', [0x55]],
      ['alternating bits from one', [0xaa]],
      ['one repeated byte', [0x9a]],
      ['two repeated bytes', [0x9a, 0x1d]],
      ['four repeated bytes', [0x9a, 0x1d, 0x33, 0xe4]],
      ['eight repeated bytes', [0x9a, 0x1d, 0x33, 0xe4, 0x50, 0x7b, 0xc2, 0x0f]],
    ];
    for (const [claim, unit] of broken) {
      it(`fails ${claim}, ${lengthBits} bits`, () => {
        assert.equal(entropyCheck(repeated(unit, lengthBytes)).passed, false);
      });
    }

    it(`fails halves that repeat with complement every 8 bytes, ${lengthBits} bits`, () => {
      const half = [0x9a, 0x1d, 0x33, 0xe4, 0x50, 0x7b, 0xc2, 0x0f];
      const key = repeated([...half, ...half.map((byte) => byte ^ 0xff)], lengthBytes);
      assert.equal(entropyCheck(key).passed, false);
    });
  }

  it('fails a 128-bit key whose halves are equal', () => {
    const cipher = createCipheriv('aes-256-ctr', Buffer.alloc(32, 1), Buffer.alloc(16));
    const half = cipher.update(Buffer.alloc(8));
    const { passed, statistics } = entropyCheck(Buffer.concat([half, half]));
    assert.equal(passed, false);
    const failing = statistics.filter((row) => !row.passed).map(({ name }) => name);
    assert.deepEqual(failing, ['disagreements-64']);
  });

  it('does not detect repeats at other distances than its own', () => {
    const cipher = createCipheriv('aes-256-ctr', Buffer.alloc(32, 1), Buffer.alloc(16));
    const half = cipher.update(Buffer.alloc(16));
    assert.equal(entropyCheck(Buffer.concat([half, half])).passed, true);
  });

  it('lists the names of its six statistics', () => {
    assert.deepEqual(
      statisticsOf(32).map(({ name }) => name),
      [
        'ones',
        'disagreements-1',
        'disagreements-8',
        'disagreements-16',
        'disagreements-32',
        'disagreements-64',
      ],
    );
  });

  it('rejects keys of another length', () => {
    assert.throws(() => entropyCheck(Buffer.alloc(24)), {
      name: 'TypeError',
      message: '"key" expected Uint8Array of length 16, 32 or 48, got length=24',
    });
    assert.throws(() => entropyCheck('00' as never), TypeError);
    assert.throws(() => failedKeyTest(Buffer.alloc(24)), TypeError);
  });
});

describe('the search for repeated blocks', () => {
  const sound = createCipheriv('aes-256-ctr', Buffer.alloc(32, 2), Buffer.alloc(16)).update(
    Buffer.alloc(48),
  );

  it('finds 16 bytes at any two block positions, and no repeats in sound carriers', () => {
    for (const length of [16, 32, 48]) {
      assert.equal(repeatsBlock(sound.subarray(0, length)), false);
      for (let from = 0; from + 16 <= length; from += 8) {
        for (let to = from + 16; to + 16 <= length; to += 8) {
          const carrier = Buffer.from(sound.subarray(0, length));
          carrier.copy(carrier, to, from, from + 16);
          assert.equal(repeatsBlock(carrier), true, `${length}: ${from} at ${to}`);
          carrier[to] ^= 1;
          assert.equal(repeatsBlock(carrier), false);
        }
      }
    }
  });

  it('finds equal halves of 384 bits', () => {
    assert.equal(repeatsBlock(Buffer.concat([sound.subarray(0, 24), sound.subarray(0, 24)])), true);
  });
});

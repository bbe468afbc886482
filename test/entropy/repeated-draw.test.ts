import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { condition } from '../../src/entropy/conditioning.ts';
import { RecentDigests } from '../../src/entropy/health/recent-digests.ts';
import { REMEMBERED_DRAWS, RepeatedDrawTest } from '../../src/entropy/health/repeated-draw.ts';

const samples = (n: number) => {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32BE(n);
  return bytes;
};

describe('the repeated draw test', () => {
  it('detects any earlier draw, recent or old, and no other', () => {
    const test = new RepeatedDrawTest();
    for (let n = 0; n < 100; n++) assert.equal(test.sees(samples(n)), false);
    assert.equal(test.sees(samples(99)), true);
    assert.equal(test.sees(samples(0)), true);
    assert.equal(test.sees(samples(100)), false);
  });

  it('remembers exactly 16,384 draws', () => {
    const test = new RepeatedDrawTest();
    for (let n = 0; n <= REMEMBERED_DRAWS; n++) test.sees(samples(n));
    assert.equal(test.size, REMEMBERED_DRAWS);
    assert.equal(test.sees(samples(1)), true);
    assert.equal(test.sees(samples(0)), false, 'the oldest was forgotten');
  });

  it('stores no plain digest of samples, because that digest is the draw itself', () => {
    const [one, other] = [new RepeatedDrawTest(), new RepeatedDrawTest()].map((test) =>
      Buffer.from(test.digestOf(samples(1))),
    );
    assert.notDeepEqual(one, condition(samples(1)));
    assert.notDeepEqual(one, other, 'each has a key of its own');
  });

  it('takes draws of any length, and leaves none of them in its memory', () => {
    const test = new RepeatedDrawTest();
    const lengths = [48, 32, 4_096, 48];
    const draws = lengths.map((length, i) => Buffer.alloc(length, i + 1));
    for (const draw of draws) assert.equal(test.sees(draw), false);
    for (const draw of draws) assert.equal(test.sees(draw), true);
  });
});

describe('the memory of recent digests', () => {
  /** A table of four digests of one word, which collide: their low three bits are equal. */
  const word = (n: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(n);
    return bytes;
  };

  it('agrees with a list, whatever collides and however often it is full', () => {
    const digest = fc.nat(15).map((n) => (n >> 2) * 8 + (n & 3) * 7);
    fc.assert(
      fc.property(fc.array(digest, { maxLength: 200 }), (digests) => {
        const recent = new RecentDigests(4, 4);
        const list: number[] = [];
        for (const one of digests) {
          const isSeen = list.slice(-4).includes(one);
          assert.equal(recent.sees(word(one)), isSeen);
          if (!isSeen) list.push(one);
        }
        assert.equal(recent.size, Math.min(4, list.length));
      }),
      { numRuns: 500 },
    );
  });

  it('compares all words of a digest, at its offset', () => {
    const recent = new RecentDigests(8, 8);
    const bytes = Buffer.concat([word(1), word(2), word(3)]);
    assert.equal(recent.sees(bytes, 0), false);
    assert.equal(recent.sees(bytes, 4), false);
    assert.equal(recent.sees(Buffer.concat([word(1), word(3)])), false);
    assert.equal(recent.sees(bytes, 4), true);
  });

  it('refuses a capacity that is no power of two, and broken words', () => {
    assert.throws(() => new RecentDigests(10, 4), RangeError);
    assert.throws(() => new RecentDigests(8, 6), RangeError);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { condition } from '../../src/entropy/conditioning.ts';
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
    assert.equal(test.remembered.size, REMEMBERED_DRAWS);
    assert.equal(test.sees(samples(1)), true);
    assert.equal(test.sees(samples(0)), false, 'the oldest was forgotten');
  });

  it('stores no plain digest of samples, because that digest is the draw itself', () => {
    const [test, other] = [new RepeatedDrawTest(), new RepeatedDrawTest()];
    test.sees(samples(1));
    other.sees(samples(1));
    const draw = condition(samples(1)).toString('base64');
    assert.ok(!test.remembered.has(draw));
    assert.notDeepEqual([...test.remembered], [...other.remembered], 'each has a key of its own');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatTimestamp } from '../src/clock.ts';

describe('formatTimestamp', () => {
  it('gives the ISO form of the date, with an offset', () => {
    const time = fc.integer({ min: -8.64e15, max: 8.64e15 });
    const ms = fc.oneof(time, fc.integer({ min: 1_795_000_000_000, max: 1_795_000_002_000 }));
    fc.assert(
      fc.property(ms, (epochMs) => {
        const expected = `${new Date(epochMs).toISOString().slice(0, -1)}+00:00`;
        assert.equal(formatTimestamp(epochMs), expected);
        assert.equal(formatTimestamp(epochMs), expected);
      }),
    );
    assert.equal(formatTimestamp(1_795_398_001_007.9), '2026-11-23T01:40:01.007+00:00');
  });

  it('refuses what is no time', () => {
    assert.equal(formatTimestamp(0), '1970-01-01T00:00:00.000+00:00');
    for (const epochMs of [Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1_000]) {
      assert.throws(() => formatTimestamp(epochMs), RangeError);
    }
    assert.equal(formatTimestamp(0), '1970-01-01T00:00:00.000+00:00');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  addCounts,
  countLatency,
  formatCounts,
  LATENCY_BUCKETS,
  LATENCY_ERROR,
  latencyBucket,
  latencyPercentileUs,
  parseCounts,
} from '../../src/ledger/latency.ts';

/** From 16 µs to 67 seconds. */
const latency = fc.integer({ min: 16, max: 2 ** 26 - 1 });
const latencies = fc.array(latency, { minLength: 1, maxLength: 200 });
const share = fc.double({ min: 0.001, max: 1, noNaN: true });

function countAll(values: readonly number[]): number[] {
  const counts: number[] = [];
  for (const value of values) countLatency(counts, value);
  return counts;
}

/** Returns the smallest value that at least `share` of all do not exceed. */
const exact = (values: readonly number[], of: number) =>
  values.toSorted((a, b) => a - b)[Math.ceil(of * values.length) - 1] ?? Number.NaN;

describe('latency buckets', () => {
  it('begin at 16 µs, have four steps per octave and end above one minute', () => {
    assert.deepEqual([0, 1, 16, 19, 20, 32, 64].map(latencyBucket), [0, 0, 0, 0, 1, 4, 8]);
    assert.equal(latencyBucket(2 ** 26 - 1), LATENCY_BUCKETS - 1);
    assert.equal(latencyBucket(Number.MAX_SAFE_INTEGER), LATENCY_BUCKETS - 1);
    assert.ok(latencyBucket(60_000_000) < LATENCY_BUCKETS);
  });

  it('rise with the latency in steps of one', () => {
    fc.assert(
      fc.property(latency, (us) => {
        const step = latencyBucket(us + 1) - latencyBucket(us);
        assert.ok(step === 0 || step === 1);
      }),
    );
    for (let octave = 5; octave < 26; octave++) {
      assert.equal(latencyBucket(2 ** octave) - latencyBucket(2 ** octave - 1), 1);
    }
  });

  it('give percentiles within the error bound, also after counts are added', () => {
    assert.ok(LATENCY_ERROR < 0.091);
    fc.assert(
      fc.property(latencies, latencies, share, (some, others, of) => {
        const counts = countAll(some);
        addCounts(counts, countAll(others));
        assert.deepEqual(counts, countAll([...some, ...others]));
        const ratio = latencyPercentileUs(counts, of) / exact([...some, ...others], of);
        assert.ok(Math.max(ratio, 1 / ratio) <= 1 + LATENCY_ERROR + 1e-12, `${ratio}`);
      }),
    );
  });

  it('give percentiles that rise with the share', () => {
    fc.assert(
      fc.property(latencies, share, share, (values, a, b) => {
        const counts = countAll(values);
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        assert.ok(latencyPercentileUs(counts, low) <= latencyPercentileUs(counts, high));
      }),
    );
    assert.throws(() => latencyPercentileUs([], 0.5), RangeError);
    assert.throws(() => latencyPercentileUs([0, 0], 0.5), RangeError);
  });

  it('are unchanged after writing and reading', () => {
    fc.assert(
      fc.property(latencies, (values) => {
        const counts = countAll(values);
        assert.deepEqual(parseCounts(formatCounts(counts)), counts);
      }),
    );
    assert.equal(formatCounts(countAll([16, 17, 40])), '2,0,0,0,0,1');
  });
});

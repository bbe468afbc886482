import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  NoiseTests,
  type NoiseTestsOptions,
  type NoiseVerdict,
  START_UP_SAMPLES,
} from '../../packages/sp800-90b/src/health/noise-tests.ts';
import { aesCtr } from '../support/lab/aes-stream.ts';

const HALF: NoiseTestsOptions = { bitsPerSample: 8, minEntropyPerSample: 0.5 };
const EIGHTH: NoiseTestsOptions = { bitsPerSample: 8, minEntropyPerSample: 1 / 8 };
const COIN: NoiseTestsOptions = { bitsPerSample: 1, minEntropyPerSample: 1 };

const noise = (length: number, key = 0) => aesCtr(Buffer.alloc(32, key), length);
const coin = (length: number, key = 0) => noise(length, key).map((byte) => byte & 1);
const check = (options: NoiseTestsOptions, samples: Uint8Array) =>
  new NoiseTests(options).check(samples);

/**
 * Returns the worst verdict over the batches into which `cuts` divide `samples`; the earlier of two
 * equals.
 */
function checkInBatches(
  options: NoiseTestsOptions,
  samples: Uint8Array,
  cuts: readonly number[],
): NoiseVerdict {
  const tests = new NoiseTests(options);
  const ends = [...cuts.map((cut) => cut % (samples.length + 1)), samples.length];
  let worst: NoiseVerdict = { level: 'passed' };
  let start = 0;
  for (const end of ends.sort((a, b) => a - b)) {
    const verdict = tests.check(samples.subarray(start, end));
    const rank = ['passed', 'intermittent', 'permanent'];
    if (rank.indexOf(verdict.level) > rank.indexOf(worst.level)) worst = verdict;
    start = end;
  }
  return worst;
}

describe('the repetition count test', () => {
  // H = 1: C = 31 at 2^-30 and 61 at 2^-60.
  const run = (length: number) => Uint8Array.of(0, ...Array(length).fill(1), 0);

  it('fails at the C-th equal sample, not before (§4.4.1)', () => {
    assert.deepEqual(check(COIN, run(30)), { level: 'passed' });
    assert.deepEqual(check(COIN, run(31)), {
      level: 'intermittent',
      test: 'repetition count',
      sample: 31,
    });
    assert.deepEqual(check(COIN, run(60)), {
      level: 'intermittent',
      test: 'repetition count',
      sample: 31,
    });
    assert.deepEqual(check(COIN, run(61)), {
      level: 'permanent',
      test: 'repetition count',
      sample: 61,
    });
  });

  it('counts the first sample, whatever its value', () => {
    for (const symbol of [0, 1]) {
      const verdict = check(COIN, new Uint8Array(31).fill(symbol));
      assert.deepEqual(verdict, { level: 'intermittent', test: 'repetition count', sample: 30 });
    }
  });

  it('continues into the next batch, but not after a reset', () => {
    const tests = new NoiseTests(COIN);
    assert.equal(tests.check(new Uint8Array(30)).level, 'passed');
    assert.deepEqual(tests.check(new Uint8Array(1)), {
      level: 'intermittent',
      test: 'repetition count',
      sample: 30,
    });
    tests.reset();
    assert.equal(tests.check(new Uint8Array(30)).level, 'passed');
    assert.equal(tests.check(new Uint8Array(1)).level, 'intermittent');
  });

  it('keeps reporting while a run lasts', () => {
    const tests = new NoiseTests(COIN);
    tests.check(new Uint8Array(61));
    assert.deepEqual(tests.check(new Uint8Array(1)), {
      level: 'permanent',
      test: 'repetition count',
      sample: 61,
    });
  });
});

describe('the adaptive proportion test', () => {
  // H = 0.5: C = 422 at 2^-30 and 447 at 2^-60, of W = 512. The zeros come in runs that the
  // repetition count test (C = 61) accepts; other symbols do not repeat.
  function window(zeros: number): Uint8Array {
    const samples = new Uint8Array(512);
    const others = 512 - zeros;
    for (let k = 1; k <= others; k++) samples[Math.floor((k * 512) / (others + 1))] = 1 + (k % 255);
    return samples;
  }

  it('fails at the C-th occurrence of its symbol in one window, not before (§4.4.2)', () => {
    assert.deepEqual(check(HALF, window(421)), { level: 'passed' });
    for (const [zeros, level] of [
      [422, 'intermittent'],
      [446, 'intermittent'],
      [447, 'permanent'],
    ] as const) {
      const verdict = check(HALF, window(zeros));
      const cutoff = level === 'permanent' ? 447 : 422;
      const sample = indexOfNthZero(window(zeros), cutoff);
      assert.deepEqual(verdict, { level, test: 'adaptive proportion', sample });
    }
  });

  function indexOfNthZero(samples: Uint8Array, n: number): number {
    let seen = 0;
    return samples.findIndex((sample) => sample === 0 && ++seen === n);
  }

  it('begins each window with the sample after the previous window', () => {
    // 421 in each of two windows pass, although some 512 samples across them hold more.
    const two = new Uint8Array([...window(421), ...window(421)]);
    assert.deepEqual(check(HALF, two), { level: 'passed' });
    const third = check(HALF, new Uint8Array([...two, ...window(422)]));
    assert.equal(third.level, 'intermittent');
  });

  it('counts only the first symbol of the window', () => {
    const samples = window(447);
    samples[0] = 255;
    assert.deepEqual(check(HALF, samples), { level: 'passed' });
  });

  it('continues into the next batch, but not after a reset', () => {
    const samples = window(422);
    const tests = new NoiseTests(HALF);
    tests.check(samples.subarray(0, 200));
    assert.equal(tests.check(samples.subarray(200)).level, 'intermittent');
    tests.reset();
    tests.check(samples.subarray(0, 200));
    tests.reset();
    assert.equal(tests.check(samples.subarray(200)).level, 'passed');
  });

  it('uses 1,024 samples for a binary source', () => {
    // H = 1: C = 609 at 2^-30 and 653 at 2^-60. Zeros in runs of 16; one sample in 17 is a one.
    const samples = Uint8Array.from({ length: 1024 }, (_, i) => (i % 17 === 16 ? 1 : 0));
    const verdict = check(COIN, samples);
    const expected = { level: 'permanent', test: 'adaptive proportion' };
    assert.deepEqual({ ...verdict, sample: 0 }, { ...expected, sample: 0 });
    // 512 such samples hold too few.
    assert.deepEqual(check(COIN, samples.subarray(0, 512)), { level: 'passed' });
  });
});

describe('the health tests of raw noise', () => {
  it('pass sound samples', () => {
    const length = 200_000;
    assert.deepEqual(check({ bitsPerSample: 8, minEntropyPerSample: 8 }, noise(length)), {
      level: 'passed',
    });
    assert.deepEqual(check(COIN, coin(length)), { level: 'passed' });
    assert.deepEqual(check(EIGHTH, noise(length)), { level: 'passed' });
  });

  it('report the worst level at its first sample', () => {
    const samples = coin(4096);
    samples.fill(0, 1000, 1031);
    samples[999] = 1;
    samples.fill(1, 2000, 2061);
    samples[1999] = 0;
    samples.fill(0, 3000, 3031);
    assert.deepEqual(check(COIN, samples), {
      level: 'permanent',
      test: 'repetition count',
      sample: 2060,
    });
  });

  it('count samples from the last reset', () => {
    const tests = new NoiseTests(COIN);
    tests.check(coin(5000));
    tests.reset();
    tests.check(Uint8Array.of(0, 1));
    const verdict = tests.check(new Uint8Array(31));
    assert.deepEqual(verdict, { level: 'intermittent', test: 'repetition count', sample: 32 });
  });

  it('give the same result however the stream is cut into batches', () => {
    // A few faults of any length and period, so that all levels and both tests occur.
    const fault = fc.record({
      at: fc.nat(2999),
      length: fc.integer({ min: 1, max: 700 }),
      period: fc.integer({ min: 1, max: 24 }),
    });
    const levels = new Set<string>();
    fc.assert(
      fc.property(
        fc.nat(255),
        fc.array(fault, { maxLength: 4 }),
        fc.array(fc.nat(10_000), { maxLength: 12 }),
        fc.constantFrom(HALF, COIN),
        (key, faults, cuts, options) => {
          const samples = options === COIN ? coin(3000, key) : noise(3000, key);
          for (const { at, length, period } of faults) {
            const end = Math.min(3000, at + length);
            for (let i = at; i < end; i++) if ((i - at) % period !== 1) samples[i] = 0;
          }
          const whole = check(options, samples);
          levels.add(whole.level === 'passed' ? 'passed' : `${whole.level}, ${whole.test}`);
          assert.deepEqual(checkInBatches(options, samples, cuts), whole);
        },
      ),
      { numRuns: 400, seed: 1 },
    );
    assert.equal(levels.size, 5, [...levels].join('; '));
  });

  it('use 1,024 samples at startup (§4.3)', () => {
    assert.equal(START_UP_SAMPLES, 1024);
  });
});

describe('arguments of the health tests', () => {
  it('are rejected outside their range', () => {
    for (const bitsPerSample of [0, 9, 1.5, Number.NaN]) {
      assert.throws(() => new NoiseTests({ bitsPerSample, minEntropyPerSample: 1 }), {
        name: 'RangeError',
        message: `"bitsPerSample" expected an integer from 1 to 8, got ${bitsPerSample}`,
      });
    }
    for (const minEntropyPerSample of [0, -1, 4.1, Number.NaN]) {
      assert.throws(() => new NoiseTests({ bitsPerSample: 4, minEntropyPerSample }), {
        name: 'RangeError',
        message: `"minEntropyPerSample" expected a number above 0 and up to 4, got ${minEntropyPerSample}`,
      });
    }
  });

  it('must be symbols of the stated size, and no error reveals a sample', () => {
    for (const bitsPerSample of [1, 4, 7]) {
      const tests = new NoiseTests({ bitsPerSample, minEntropyPerSample: 1 });
      tests.check(Uint8Array.of(0, 2 ** bitsPerSample - 1));
      assert.throws(() => tests.check(Uint8Array.of(0, 2 ** bitsPerSample)), {
        name: 'RangeError',
        message: `"samples" expected symbols below 2^${bitsPerSample}, got a greater one`,
      });
    }
    assert.equal(check(EIGHTH, Uint8Array.of(255)).level, 'passed');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  cutoffsOf,
  type Delays,
  expectedDelay,
  type Fault,
  measureDelays,
  type Source,
  windowFailure,
} from '../../packages/lab/studies/health-delays.ts';
import { ALPHA_LOG2 } from '../../packages/sp800-90b/src/health/levels.ts';
import { NoiseTests } from '../../packages/sp800-90b/src/health/noise-tests.ts';

const LEVELS = ['intermittent', 'permanent'] as const;
const COIN: Source = { bitsPerSample: 1, H: 1 };
const BYTE: Source = { bitsPerSample: 8, H: 1 };
const SOURCES: readonly Source[] = [
  { bitsPerSample: 1, H: 0.5 },
  COIN,
  { bitsPerSample: 8, H: 1 / 8 },
  BYTE,
  { bitsPerSample: 8, H: 8 },
];
const NEVER: Delays = { intermittent: null, permanent: null };

const nameOf = ({ bitsPerSample, H }: Source) => `${bitsPerSample}-bit samples of H = ${H}`;

function meanDelay(
  source: Source,
  fault: Fault,
  level: (typeof LEVELS)[number],
  runs: number,
): number {
  const delays = Array.from({ length: runs }, (_, seed) => measureDelays(source, fault, seed));
  return delays.reduce((sum, delay) => sum + (delay[level] ?? Infinity), 0) / runs;
}

describe('a source that gets stuck', () => {
  for (const source of SOURCES) {
    it(`is detected after C − 1 further samples (§4.4.1): ${nameOf(source)}`, () => {
      for (const level of LEVELS) {
        const C = cutoffsOf(source, level).repetition;
        const { bitsPerSample, H } = source;
        const tests = new NoiseTests({ bitsPerSample, minEntropyPerSample: H });
        const before = tests.check(Uint8Array.of(1, ...Array(C - 1).fill(0)));
        assert.notEqual(before.level, level);
        const verdict = tests.check(Uint8Array.of(0));
        assert.deepEqual(verdict, { level, test: 'repetition count', sample: C });
      }
    });

    it(`is detected no later after honest samples: ${nameOf(source)}`, () => {
      for (let seed = 0; seed < 20; seed++) {
        const delays = measureDelays(source, { kind: 'stuck' }, seed);
        for (const level of LEVELS) {
          const delay = delays[level] ?? Infinity;
          assert.ok(delay <= cutoffsOf(source, level).repetition, `seed ${seed}: ${delay}`);
        }
      }
    });
  }
});

describe('a source that becomes biased', () => {
  const cases: readonly (readonly [Source, p: number])[] = [
    [COIN, 0.9],
    [COIN, 0.99],
    [BYTE, 0.75],
    [BYTE, 0.9],
    [{ bitsPerSample: 8, H: 1 / 8 }, 0.99],
    [{ bitsPerSample: 8, H: 8 }, 0.6],
  ];
  for (const [source, p] of cases) {
    it(`is detected as soon as the binomial tail predicts: p = ${p}, ${nameOf(source)}`, () => {
      const fault: Fault = { kind: 'bias', p };
      for (const level of LEVELS) {
        const expected = expectedDelay(source, fault, level);
        const mean = meanDelay(source, fault, level, 60);
        // Windows that had begun, and the other test, shorten the delay. The bounds allow for the
        // spread of 60 runs.
        assert.ok(mean > expected / 2 && mean < expected * 1.3, `${level}: ${mean}, ${expected}`);
      }
    });
  }
});

describe('a source that repeats itself', () => {
  it('is detected if its symbols occur often enough in a window', () => {
    // C = 17 and 26 of 512: detected by the end of the first whole window.
    const source: Source = { bitsPerSample: 8, H: 8 };
    for (const length of [2, 4, 16]) {
      for (let seed = 0; seed < 20; seed++) {
        const delays = measureDelays(source, { kind: 'period', length }, seed);
        for (const level of LEVELS) {
          const last = 512 + (cutoffsOf(source, level).proportion - 1) * length + 1;
          assert.ok((delays[level] ?? Infinity) <= last, `${length}: ${delays[level]}`);
        }
      }
    }
  });

  it('is otherwise never detected, just like a counter', () => {
    for (const source of [COIN, BYTE]) {
      assert.deepEqual(measureDelays(source, { kind: 'period', length: 2 }, 0), NEVER);
    }
    for (const H of [1, 8]) {
      const counter: Fault = { kind: 'period', length: 256 };
      assert.deepEqual(measureDelays({ bitsPerSample: 8, H }, counter, 0), NEVER);
    }
  });
});

it('a generator in place of the source is never detected', () => {
  for (const source of SOURCES) {
    assert.deepEqual(measureDelays(source, { kind: 'generator' }, 0), NEVER);
  }
});

it('a window of an honest source fails with a probability of at most α (§4.4.2)', () => {
  for (const source of SOURCES) {
    for (const level of LEVELS) {
      const { W, proportion } = cutoffsOf(source, level);
      const falseAlarm = windowFailure(source, 2 ** -source.H, W, proportion);
      assert.ok(falseAlarm <= 2 ** ALPHA_LOG2[level], `${nameOf(source)}: ${falseAlarm}`);
    }
  }
});

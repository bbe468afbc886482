/** Bounds of the elementary tests, and the rule that turns them into a verdict. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unpackBits } from '#sp800-22';
import {
  evaluate,
  evaluateTrials,
  type ProcedureRun,
} from '../../packages/ais-20-31/src/result.ts';
import { autocorrelation } from '../../packages/ais-20-31/src/tests/autocorrelation.ts';
import { disjointness } from '../../packages/ais-20-31/src/tests/disjointness.ts';
import { monobit, poker, runs } from '../../packages/ais-20-31/src/tests/sequence.ts';
import { aesCtr } from '../support/lab/aes-stream.ts';
import { halfBinomialLower } from './reference.ts';

const BITS = 20_000;

const sound = (seed = 1): Uint8Array => unpackBits(aesCtr(Buffer.alloc(32, seed), BITS / 8));

/** A sound sequence whose first bits were set until it has `ones` ones. */
function withOnes(ones: number): Uint8Array {
  const bits = new Uint8Array(BITS);
  bits.fill(1, 0, ones);
  return bits;
}

describe('the monobit test T1', () => {
  it('passes from 9,655 to 10,345 ones', () => {
    const passes = [9_654, 9_655, 10_345, 10_346].map((ones) => monobit(withOnes(ones)).passed);
    assert.deepEqual(passes, [false, true, true, false]);
  });

  it('rejects a sound sequence once in a million', () => {
    const rejected = 2 * halfBinomialLower(9_654, BITS);
    assert.ok(rejected > 9e-7 && rejected < 1.1e-6, `${rejected}`);
  });
});

describe('the poker test T2', () => {
  it('is χ² of the words of four bits', () => {
    const bits = sound();
    const counts = new Map<string, number>();
    for (let i = 0; i < BITS; i += 4) {
      const word = bits.subarray(i, i + 4).join('');
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const expected = BITS / 4 / 16;
    const chiSquared = [...counts.values()].reduce(
      (sum, n) => sum + (n - expected) ** 2 / expected,
      0,
    );
    assert.ok(Math.abs(Number(poker(bits).statistics.chi_squared) - chiSquared) < 1e-9);
  });

  it('rejects words that are too even, and words that are not', () => {
    const even = Uint8Array.from(
      { length: BITS },
      (_, i) => (Math.floor(i / 4) >>> (3 - (i % 4))) & 1,
    );
    assert.equal(poker(even).passed, false);
    assert.equal(poker(withOnes(10_000)).passed, false);
    assert.equal(poker(sound()).passed, true);
  });
});

describe('the runs tests T3 and T4', () => {
  it('count each run once, the last one too', () => {
    const [t3, t4] = runs(Uint8Array.from({ length: BITS }, (_, i) => (i % 5 < 3 ? 1 : 0)));
    assert.deepEqual(t3.statistics.runs_of_ones, [0, 0, 4_000, 0, 0, 0]);
    assert.deepEqual(t3.statistics.runs_of_zeros, [0, 4_000, 0, 0, 0, 0]);
    assert.equal(t4.statistics.longest_run, 3);
  });

  it('reject a run of 34 equal bits, not of 33', () => {
    for (const [length, passed] of [
      [33, true],
      [34, false],
    ] as const) {
      const bits = sound();
      bits.fill(0, BITS - length);
      bits[BITS - length - 1] = 1;
      const [, t4] = runs(bits);
      assert.deepEqual([t4.statistics.longest_run, t4.passed], [length, passed]);
    }
  });
});

describe('the autocorrelation test T5', () => {
  it('agrees with a comparison bit by bit', () => {
    const bits = sound(3);
    const differences = (from: number, shift: number) => {
      let sum = 0;
      for (let i = from; i < from + 5_000; i++) sum += bits[i] ^ bits[i + shift];
      return sum;
    };
    const shifts = Array.from({ length: 5_000 }, (_, i) => i + 1);
    const deviations = shifts.map((shift) => Math.abs(differences(0, shift) - 2_500));
    const shift = deviations.indexOf(Math.max(...deviations)) + 1;
    const expected = { shift, differences: differences(10_000, shift) };
    assert.deepEqual(autocorrelation(bits).statistics, expected);
  });

  it('rejects bits that follow those 4,999 places before', () => {
    const bits = sound();
    for (let i = 4_999; i < BITS; i++) if (i % 10 < 3) bits[i] = bits[i - 4_999];
    const { statistics, passed } = autocorrelation(bits);
    assert.deepEqual([statistics.shift, passed], [4_999, false]);
  });
});

describe('the disjointness test T0', () => {
  it('rejects two equal words', () => {
    const bits = unpackBits(aesCtr(Buffer.alloc(32, 2), (65_536 * 48) / 8));
    assert.equal(disjointness(bits, 48).passed, true);
    bits.copyWithin(48 * 65_535, 0, 48);
    assert.deepEqual(disjointness(bits, 48).statistics, { words: 65_536, repetitions: 1 });
  });
});

const run = (failed: number, complete = true): ProcedureRun => {
  return { tests: [], failed, bits: 10, complete };
};

describe('the evaluation rule', () => {
  const verdictOf = (...runs: readonly ProcedureRun[]) => {
    const starts: number[] = [];
    const { verdict } = evaluate('A', (from) => runs[starts.push(from) - 1] ?? run(0, false));
    return [verdict, starts];
  };

  it('passes without a failed test, and fails with two', () => {
    assert.deepEqual(verdictOf(run(0)), ['passed', [0]]);
    assert.deepEqual(verdictOf(run(2)), ['failed', [0]]);
  });

  it('repeats once with new bits after one failed test', () => {
    assert.deepEqual(verdictOf(run(1), run(0)), ['passed', [0, 10]]);
    assert.deepEqual(verdictOf(run(1), run(1)), ['failed', [0, 10]]);
  });

  it('is undecided if the input ends before the verdict is certain', () => {
    assert.deepEqual(verdictOf(run(1)), ['undecided', [0, 10]]);
    assert.deepEqual(verdictOf(run(1, false)), ['undecided', [0]]);
    assert.deepEqual(verdictOf(run(0, false)), ['undecided', [0]]);
    assert.deepEqual(verdictOf(run(2, false)), ['failed', [0]]);
  });
});

describe('the rule of T_irn', () => {
  const verdictOf = (...runs: readonly ProcedureRun[]) => {
    const starts: number[] = [];
    const { verdict } = evaluateTrials((from) => runs[starts.push(from) - 1]);
    return [verdict, starts];
  };

  it('passes without a failed test', () => {
    assert.deepEqual(verdictOf(run(0)), ['passed', [0]]);
  });

  it('has one second trial with new bits, whatever failed, unlike the procedures', () => {
    assert.deepEqual(verdictOf(run(1), run(0)), ['passed', [0, 10]]);
    assert.deepEqual(verdictOf(run(4), run(0)), ['passed', [0, 10]]);
    assert.deepEqual(verdictOf(run(1), run(1)), ['failed', [0, 10]]);
  });

  it('is undecided if the bits end before the second trial', () => {
    assert.deepEqual(verdictOf(run(1), run(0, false)), ['undecided', [0, 10]]);
  });
});

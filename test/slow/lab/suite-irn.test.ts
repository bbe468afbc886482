/** T_irn of AIS 20/31 version 3.0: the figures of an open implementation, its limits, its trials and its false alarms. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SUITE_IRN_BITS, type SuiteResult, suiteIrn } from '#ais-20-31';
import { unpackBits } from '#sp800-22';
import { prediction } from '../../../packages/ais-20-31/src/tests/prediction.ts';
import { poker } from '../../../packages/ais-20-31/src/tests/sequence.ts';
import { lz78yEstimate } from '../../../packages/sp800-90b/src/estimators/lz78y.ts';
import { multiMmcEstimate } from '../../../packages/sp800-90b/src/estimators/multi-mmc.ts';
import { aesStream, assertTrial, biasedStream, TOOL_TRIALS } from '../../ais-20-31/reference.ts';
import { aesCtr } from '../../support/lab/aes-stream.ts';

const TRIAL_BYTES = SUITE_IRN_BITS / 8;
/** Bits of T3, and of T4. */
const PREDICTED_BITS = 1_000_000;

const sound = (seed: number, bytes: number): Buffer => aesCtr(Buffer.alloc(32, seed), bytes);

const verdicts = ({ verdict, runs }: SuiteResult) => [
  verdict,
  ...runs.map(({ tests }) =>
    tests
      .filter(({ passed }) => !passed)
      .map(({ name }) => name)
      .join(' '),
  ),
];

/** Two trials of sound bits. In those of `broken`, T1 gets zeros. */
function trials(broken: readonly number[]): Buffer {
  const bytes = sound(5, 2 * TRIAL_BYTES);
  for (const trial of broken) {
    const start = trial * TRIAL_BYTES;
    bytes.fill(0, start, start + 2_500);
  }
  return bytes;
}

describe('the suite T_irn', () => {
  it('runs four tests on 2,040,000 bits, each after the bits of the last', () => {
    assert.equal(SUITE_IRN_BITS, 2_040_000);
    const { suite, verdict, runs } = suiteIrn(aesStream());
    assert.deepEqual([suite, verdict, runs.length], ['T_irn', 'passed', 1]);
    const [{ tests, bits, failed, complete }] = runs;
    assert.deepEqual([bits, failed, complete], [2_040_000, 0, true]);
    assert.deepEqual(
      tests.map(({ name, on }) => `${name} on ${on}`),
      [
        'T1 on bits 1 to 20,000',
        'T2 on bits 20,001 to 40,000',
        'T3 on bits 40,001 to 1,040,000',
        'T4 on bits 1,040,001 to 2,040,000',
      ],
    );
    assert.deepEqual(
      tests.map(({ limit }) => limit),
      [
        '9,654 < ones < 10,346',
        '1.03 < chi squared < 57.4',
        'min-entropy ≥ 0.95',
        'min-entropy ≥ 0.95',
      ],
    );
  });

  it('reads from an offset, and no more than the bits it is given', () => {
    const bytes = aesStream();
    const shifted = Buffer.concat([Buffer.of(0xff), bytes.subarray(0, TRIAL_BYTES)]);
    assert.deepEqual(suiteIrn(shifted, { offsetBits: 8 }), suiteIrn(bytes));
    assert.throws(() => suiteIrn(bytes, { bits: SUITE_IRN_BITS - 1 }), {
      name: 'RangeError',
      message: '"bits" expected at least 2,040,000 bits, got 2,039,999',
    });
    assert.throws(() => suiteIrn(bytes.subarray(0, TRIAL_BYTES - 1)), {
      name: 'RangeError',
      message: '"bytes" expected at least 2,040,000 bits, got 2,039,992',
    });
  });

  it('passes by a second trial on new bits', () => {
    const result = suiteIrn(trials([0]));
    assert.deepEqual(verdicts(result), ['passed', 'T1', '']);
    assert.equal(result.runs[1].tests[3].on, 'bits 3,080,001 to 4,080,000');
  });

  it('is undecided if the bits end before a second trial that it needs', () => {
    const bits = 2 * SUITE_IRN_BITS - 1;
    const { verdict, runs } = suiteIrn(trials([0]), { bits });
    assert.deepEqual([verdict, runs.length], ['undecided', 2]);
    assert.deepEqual([runs[1].tests, runs[1].complete], [[], false]);
    assert.equal(runs[1].stopped, 'the second trial needs 2,040,000 bits, and 2,039,999 are left');
  });
});

/** 5,000 words of four bits, of which word i comes 312.5 + d[i] times. */
function wordsOf(d: readonly number[]): Uint8Array {
  const words = d.flatMap((difference, word) => new Array<number>(312.5 + difference).fill(word));
  assert.equal(words.length, 5_000);
  return Uint8Array.from(words.flatMap((word) => [3, 2, 1, 0].map((shift) => (word >> shift) & 1)));
}

/** Differences of one half. The words are 5,000 only if the signs of all differences balance. */
const halves = (plus: number, minus: number): number[] => [
  ...new Array<number>(plus).fill(0.5),
  ...new Array<number>(minus).fill(-0.5),
];

describe('the figures of AnotherAIS31TestTool', () => {
  // test/campaigns/ais-31.test.ts has the other trials.
  const [first] = TOOL_TRIALS;

  it(`are ours for the ${first.stream} stream`, () => assertTrial(first));
});

describe('the limits of T_irn', () => {
  it('are 1.03 and 57.4 for T2, between the nearest values that χ² can take', () => {
    // χ² is the sum of d² / 312.5; the sums here are 320, 322, 17,936 and 17,938.
    const low = [12.5, -12.5];
    const high = [94.5, -94.5, 5.5, -5.5];
    for (const [d, chiSquared, passed] of [
      [[...low, 1.5, -1.5, ...halves(6, 6)], 1.024, false],
      [[...low, 1.5, 1.5, -1.5, ...halves(4, 7)], 1.0304, true],
      [[...high, 1.5, 1.5, 1.5, -1.5, -1.5, -1.5, ...halves(3, 3)], 57.3952, true],
      [[...high, 1.5, 1.5, 1.5, 1.5, -1.5, -1.5, -1.5, ...halves(1, 4)], 57.4016, false],
    ] as const) {
      const outcome = poker(wordsOf(d));
      assert.ok(Math.abs(Number(outcome.statistics.chi_squared) - chiSquared) < 1e-9);
      assert.equal(outcome.passed, passed, `${chiSquared}`);
    }
  });

  it('are 0.95 bits of min-entropy for T3 and T4, which is enough', () => {
    const estimate = multiMmcEstimate(unpackBits(sound(1, 1_000)), 2);
    assert.ok(estimate.applicable);
    for (const [minEntropy, passed] of [
      [0.95, true],
      [0.95 - 2 ** -53, false],
    ] as const) {
      assert.equal(prediction('T3', { ...estimate, minEntropy }).passed, passed);
    }
  });

  for (const [name, estimateOf] of [
    ['T3', multiMmcEstimate],
    ['T4', lz78yEstimate],
  ] as const) {
    const outcomeOf = (bits: Uint8Array) => prediction(name, estimateOf(bits, 2));

    it(`let ${name} pass with 25 correct predictions in a row, and fail with 26`, () => {
      const outcomes = [25, 26].map((ones) => {
        const bits = unpackBits(sound(2, PREDICTED_BITS / 8));
        // The predictors learn from the first of these runs that a 1 follows ones.
        for (let run = 0; run < 40; run++) {
          const start = 500_000 + 1_000 * run;
          bits.fill(1, start, start + ones);
          bits[start - 1] = 0;
          bits[start + ones] = 0;
        }
        const { statistics, passed } = outcomeOf(bits);
        return [statistics.longest_run, passed];
      });
      assert.deepEqual(outcomes, [
        [25, true],
        [26, false],
      ]);
    });

    it(`let ${name} fail if 51.7 % of its predictions are correct, and pass at 51.5 %`, () => {
      const outcomes = [0.515, 0.5175].map((share) => {
        const bytes = sound(3, 4 * PREDICTED_BITS);
        const bits = Uint8Array.from({ length: PREDICTED_BITS }, (_, i) =>
          bytes.readUInt32BE(4 * i) < share * 2 ** 32 ? 1 : 0,
        );
        return outcomeOf(bits);
      });
      assert.deepEqual(
        outcomes.map(({ passed }) => passed),
        [true, false],
        JSON.stringify(outcomes),
      );
    });
  }

  it('fail constant bits in every test, and biased bits', () => {
    const constant = suiteIrn(new Uint8Array(2 * TRIAL_BYTES));
    assert.deepEqual(verdicts(constant), ['failed', 'T1 T2 T3 T4', 'T1 T2 T3 T4']);
    const biased = suiteIrn(biasedStream(), { bits: SUITE_IRN_BITS });
    assert.deepEqual(verdicts(biased), ['undecided', 'T1 T2 T3 T4', '']);
  });
});

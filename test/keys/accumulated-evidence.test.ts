/** Evidence over many samples: its limits by definition, and small defects that every single sample hides. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LAGS, type LagCounts, runPackedSuite } from '#sp800-22';
import {
  ACCUMULATED_LIMIT,
  ACCUMULATED_TESTS,
  ACCUMULATED_WARNING,
  type Accumulated,
  AccumulatedEvidence,
} from '../../src/keys/accumulated-evidence.ts';
import { generateKey } from '../../src/keys/generate.ts';
import { Generator } from '../../src/keys/generator.ts';
import type { EvidenceWarning } from '../../src/keys/latch.ts';
import { keyring, order, parts, RecordingDrbg } from '../support/servers/fakes.ts';
import { correlated, defectiveSample, moreOnes, type SmallDefect } from './small-defects.ts';
import { Noise } from './weak-sources.ts';

const BITS = 2 ** 20;

function countsOf(sample: Uint8Array): LagCounts {
  return runPackedSuite(sample, { only: [], lags: true }).lags ?? assert.fail('no counts');
}

/** Counts of a sample with as many ones and differences as a sound one has on average, but for the ones given. */
function withOnes(ones: number): LagCounts {
  return { bits: BITS, ones, differences: LAGS.map((lag) => (BITS - lag) / 2) };
}

/** Adds samples until one shows a defect. Returns what was reported. */
function reportedUntilDefect(sample: (seed: number) => LagCounts, most: number): Accumulated[] {
  const evidence = new AccumulatedEvidence();
  const reported: Accumulated[] = [];
  for (let seed = 1; seed <= most; seed++) {
    reported.push(...evidence.add(sample(seed)));
    if (reported.some(({ isDefect }) => isDefect)) break;
  }
  return reported;
}

describe('evidence over many samples', () => {
  it('is the mean over the deviations of (1 + R) · L, with L cut at a million', () => {
    // By the definition, in plain arithmetic: the ones of a few samples, in turn.
    const ones = [526_500, 527_100, 526_000, 527_400, 524_000, 528_000, 528_000];
    const deviations = [9, 10, 11, 12, 13].flatMap((j) => [2 ** -j, -(2 ** -j)]);
    const R = deviations.map(() => 0);
    const evidence = new AccumulatedEvidence();
    const reported = ones.flatMap((k) => {
      for (const [i, d] of deviations.entries()) {
        // (1 + 2d)^k alone is beyond a double.
        const L = ((1 + 2 * d) / (1 - 2 * d)) ** (k - BITS / 2) * (1 - 4 * d * d) ** (BITS / 2);
        R[i] = (1 + R[i]) * Math.min(L, 1e6);
      }
      return evidence.add(withOnes(k));
    });
    const mean = R.reduce((sum, one) => sum + one) / R.length;
    assert.ok(mean > ACCUMULATED_LIMIT, `${mean}`);
    const last = reported.at(-1);
    assert.deepEqual(last, {
      test: 'accumulated_ones',
      evidence: Number(mean.toPrecision(2)),
      samples: ones.length,
      isDefect: true,
    });
  });

  it('has a likelihood ratio of mean 1, for each deviation and lag', () => {
    // Σ over k of C(n, k) / 2^n · (1 + 2d)^k · (1 − 2d)^(n − k) is 1 by the binomial theorem; here for n = 24.
    const n = 24;
    for (const d of [2 ** -9, -(2 ** -9), 2 ** -13]) {
      let [mean, binomial] = [0, 1];
      for (let k = 0; k <= n; k++) {
        mean += (binomial / 2 ** n) * (1 + 2 * d) ** k * (1 - 2 * d) ** (n - k);
        binomial = (binomial * (n - k)) / (k + 1);
      }
      assert.ok(Math.abs(mean - 1) < 1e-12, `${d}`);
    }
  });

  it('reports nothing of sound samples', () => {
    const sound = (seed: number) => countsOf(defectiveSample(seed, () => {}));
    assert.deepEqual(reportedUntilDefect(sound, 300), []);
  });

  it('leaves one sample to the gate, however bad it is, and forgets it', () => {
    const evidence = new AccumulatedEvidence();
    const bad = countsOf(Buffer.alloc(2 ** 17, 0x55));
    const good = withOnes(BITS / 2);
    assert.deepEqual(evidence.add(bad), []);
    for (let i = 0; i < 2_000; i++) assert.deepEqual(evidence.add(good), []);
    assert.deepEqual(evidence.add(bad), []);
    assert.ok([...evidence.add(bad), ...evidence.add(bad)].some(({ isDefect }) => isDefect));
  });

  it('warns once on the way to the limit, and again after it fell below the warning', () => {
    const evidence = new AccumulatedEvidence();
    const add = (ones: number) => evidence.add(withOnes(ones)).map(({ isDefect }) => isDefect);
    const climb = () => {
      for (let i = 0; i < 100; i++) if (add(BITS / 2 + 1_200).includes(false)) return;
      assert.fail('no warning');
    };
    climb();
    assert.deepEqual(add(BITS / 2 + 1_200), []);
    for (let i = 0; i < 1_000; i++) assert.deepEqual(add(BITS / 2), []);
    climb();
    assert.ok(ACCUMULATED_WARNING < ACCUMULATED_LIMIT);
  });
});

/** Small defects, the statistic that shows each, and the samples within which it does: see docs/evidence/accumulated.txt. */
const SMALL: readonly [name: string, defect: SmallDefect, test: string, samples: number][] = [
  ['a share of ones of 0.501', moreOnes(0.001), 'accumulated_ones', 60],
  ['a share of ones of 0.4990', moreOnes(-0.001), 'accumulated_ones', 60],
  ['a share of ones of 0.5003', moreOnes(0.0003), 'accumulated_ones', 450],
  ['a correlation of 0.001 with the bit before', correlated(1, 0.001), 'accumulated_lag_1', 180],
  ['a correlation of 0.001 with the byte before', correlated(8, 0.001), 'accumulated_lag_8', 180],
  [
    'a correlation of 0.001 with the block before',
    correlated(128, 0.001),
    'accumulated_lag_128',
    180,
  ],
];

describe('a small defect that samples hide', () => {
  for (const [name, defect, test, most] of SMALL) {
    it(`is found within ${most} samples: ${name}`, () => {
      const sample = (seed: number) => countsOf(defectiveSample(seed, defect));
      const reported = reportedUntilDefect(sample, most);
      const found = reported.at(-1) ?? assert.fail('nothing was reported');
      assert.deepEqual([found.test, found.isDefect], [test, true]);
      const [warned] = reported;
      assert.deepEqual([warned?.test, warned?.isDefect], [test, false]);
    });
  }

  it('latches the process although the gate passes each sample, after a warning', () => {
    const noise = new Noise(3, 'latch');
    const defect = moreOnes(0.001);
    const drbg = new RecordingDrbg((output) => defect(output, noise));
    const warnings: EvidenceWarning[] = [];
    const generator = new Generator(parts({ drbg, onWarning: (one) => warnings.push(one) }));
    generator.takeScreen();
    const counts = { streams: 0, streamsPassed: 0 };
    let keys = 0;
    const generate = () =>
      generateKey(generator, keyring, order({ withEvidence: true, modulation: 'none' }), counts);
    assert.throws(
      () => {
        for (; keys < 60; keys++) generate();
      },
      { code: 'entropy_unavailable' },
    );
    assert.equal(counts.streamsPassed, counts.streams, 'each sample passed');
    const { cause, test, detail } = generator.latched ?? assert.fail('no latch');
    assert.deepEqual([cause, test], ['accumulated', 'accumulated_ones']);
    assert.match(detail, new RegExp(`^${keys + 1} samples of one generator add up to evidence`));
    assert.deepEqual(
      warnings.map((one) => 'accumulated' in one && one.accumulated.test),
      ['accumulated_ones'],
    );
    assert.ok(ACCUMULATED_TESTS.includes(test));
  });
});

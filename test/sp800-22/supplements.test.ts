/** Supplements: tests that are not part of SP 800-22. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type ApplicableSupplement,
  runPackedSuite,
  runSuite,
  SUPPLEMENT_NAMES,
  type SupplementName,
  supplementMinimumBits,
  unpackBits,
} from '#sp800-22';
import { correlate } from '../../packages/sp800-22/src/kernels/autocorrelation.ts';
import { loadKernels } from '../../packages/sp800-22/src/kernels/module.ts';
import { autocorrelations } from '../../packages/sp800-22/src/supplements/autocorrelation.ts';
import { judgeSpectralPeak } from '../../packages/sp800-22/src/supplements/spectral-peak.ts';
import { defectiveSource } from './defective-sources.ts';
import { aesStream, STRUCTURED } from './differential.ts';
import { autocorrelationOf } from './naive.ts';

/** The readable autocorrelation of 2^20 bits takes a third of a second. */
const WITHOUT_AUTOCORRELATION = ['spectral_peak', 'byte_distribution'] as const;

/** Returns the outcome of one supplement. */
function outcome(bytes: Uint8Array, name: SupplementName): ApplicableSupplement {
  const { supplements = [] } = runPackedSuite(bytes, { only: [], supplements: [name] });
  const [first] = supplements;
  assert.ok(first?.applicable);
  return first;
}

describe('supplements', () => {
  it('are left out unless requested, and are never counted with the tests', () => {
    const bytes = aesStream(1, 2000);
    assert.ok(!('supplements' in runPackedSuite(bytes)));
    const report = runPackedSuite(bytes, { supplements: 'all' });
    assert.deepEqual(
      report.supplements?.map(({ name }) => name),
      [...SUPPLEMENT_NAMES],
    );
    assert.equal(report.totalTests, runPackedSuite(bytes).totalTests);
    const unknown = ['luck' as SupplementName];
    assert.throws(() => runPackedSuite(bytes, { supplements: unknown }), RangeError);
  });

  it('apply from their minimum length on, and say so below it', () => {
    for (const name of SUPPLEMENT_NAMES) {
      const minimum = supplementMinimumBits(name);
      for (const bits of [minimum - 1, minimum]) {
        const report = runPackedSuite(aesStream(2, 2000), { bits, only: [], supplements: [name] });
        const [first] = report.supplements ?? [];
        assert.equal(first.applicable, bits === minimum);
        if (!first.applicable)
          assert.match(first.reason, /^needs at least [\d,]+ bits, got [\d,]+$/);
      }
    }
  });

  it('find what the tests of SP 800-22 pass', () => {
    for (const [source, name] of [
      ['lag-copy', 'autocorrelation'],
      ['period-8000', 'spectral_peak'],
    ] as const) {
      const bytes = defectiveSource(source).generate(5, 2 ** 17);
      const report = runPackedSuite(bytes, { supplements: 'all' });
      assert.equal(report.testsPassed, report.totalTests, source);
      const failed = report.supplements?.filter((one) => one.applicable && !one.passed);
      assert.deepEqual(
        failed?.map((one) => one.name),
        [name],
      );
    }
  });

  it('agree with the readable suite on every kind of sequence', () => {
    const sequences = [
      ['random', aesStream(3, 2 ** 17)],
      ['biased', defectiveSource('bias-0.501').generate(1, 2 ** 17)],
      ['zeros', STRUCTURED['all zeros'](2 ** 17)],
      ['bytes', STRUCTURED['bytes that count up'](2 ** 17)],
    ] as const;
    for (const [name, bytes] of sequences) {
      for (const [bits, offsetBits, supplements] of [
        [2 ** 20, 0, WITHOUT_AUTOCORRELATION],
        [20_001, 5, SUPPLEMENT_NAMES],
      ] as const) {
        const options = { only: [], supplements } as const;
        const fast = runPackedSuite(bytes, { bits, offsetBits, ...options });
        const plain = runSuite(unpackBits(bytes, bits, offsetBits), options);
        for (const [i, expected] of (plain.supplements ?? []).entries()) {
          const actual = fast.supplements?.[i];
          const title = `${name}, ${bits} bits, ${expected.name}`;
          assert.ok(actual?.applicable && expected.applicable, title);
          assert.ok(Math.abs(actual.pValues[0] - expected.pValues[0]) < 1e-9, title);
          for (const [symbol, value] of Object.entries(expected.statistics)) {
            // Peaks of equal height may be found in any order.
            if (symbol === 'k' && name !== 'random') continue;
            const difference = Math.abs(Number(actual.statistics[symbol]) - Number(value));
            assert.ok(difference <= 1e-7 * Math.abs(Number(value)), `${title}, ${symbol}`);
          }
        }
      }
    }
  });
});

describe('autocorrelation', () => {
  it('has the sums of the definition', () => {
    const sequence = fc.array(fc.nat(1), { minLength: 100, maxLength: 700, size: 'max' });
    fc.assert(
      fc.property(sequence, fc.integer({ min: 1, max: 99 }), (bits, lags) => {
        const sums = autocorrelations(Uint8Array.from(bits), lags);
        assert.deepEqual([...sums], autocorrelationOf(bits, lags));
      }),
      { numRuns: 100 },
    );
  });

  it('is the same by the kernels, from the shortest length that they support', () => {
    for (const build of ['simd', 'relaxed-simd'] as const) {
      const module = loadKernels(build);
      for (const [n, bytes] of [
        [2 ** 18, STRUCTURED['all ones'](2 ** 15)],
        [2 ** 18 + 5, aesStream(4, 2 ** 15 + 1)],
      ] as const) {
        module.load(bytes, n, 0);
        const sums = correlate(module, n);
        module.wipe(n);
        assert.deepEqual(sums, autocorrelations(unpackBits(bytes, n), 2 ** 16), `${build}, ${n}`);
      }
    }
  });

  it('leaves no trace in the memory of the kernels', () => {
    const module = loadKernels('simd');
    const memory = () => Buffer.from(module.exports.memory.buffer.slice(0));
    const run = (seed: number) => {
      module.load(aesStream(seed, 2 ** 15), 2 ** 18, 0);
      correlate(module, 2 ** 18);
      module.wipe(2 ** 18);
    };
    run(5);
    const clean = memory();
    run(6);
    assert.ok(memory().equals(clean));
  });

  it('names the lag of a copy, and its distance from zero', () => {
    const { statistics } = outcome(
      defectiveSource('lag-copy').generate(1, 2 ** 17),
      'autocorrelation',
    );
    assert.deepEqual([statistics.lags, statistics.lag], [65_536, 1000]);
    assert.ok(Number(statistics.z) > 8);
  });
});

describe('the spectral peak', () => {
  it('has the p-value of the largest of independent exponentials', () => {
    const [p] = judgeSpectralPeak(1001, 7, 1001 * 6.25).pValues;
    assert.ok(Math.abs(p - (1 - (1 - Math.exp(-6.25)) ** 500)) < 1e-12);
  });

  it('names the frequency of a weak sine', () => {
    const { statistics } = outcome(
      defectiveSource('period-8000').generate(1, 2 ** 17),
      'spectral_peak',
    );
    assert.equal(statistics.k, Math.round(2 ** 20 / 8000));
  });

  it('is not found at k = 0, where the share of ones is', () => {
    const { statistics, passed } = outcome(
      defectiveSource('bias-0.501').generate(1, 2 ** 17),
      'spectral_peak',
    );
    assert.ok(Number(statistics.k) > 0);
    assert.equal(passed, true);
  });
});

describe('the byte distribution', () => {
  it('is χ² of 256 values', () => {
    const bytes = Uint8Array.from({ length: 2560 }, (_, i) => (i < 256 ? 7 : i));
    // One byte of each value is replaced by a 7: E = 10, 255 values have 9 and one has 265.
    const expected = (255 * 1 + 255 ** 2) / 10;
    assert.ok(
      Math.abs(Number(outcome(bytes, 'byte_distribution').statistics.chi2) - expected) < 1e-9,
    );
  });
});

/** Counts of ones and of pairs at short distances: the kernels against the definition. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LAGS, runPackedSuite, runSuite, unpackBits } from '#sp800-22';
import { loadKernels } from '../../packages/sp800-22/src/kernels/module.ts';
import { SuiteKernels } from '../../packages/sp800-22/src/kernels/suite.ts';
import { lagCounts } from '../../packages/sp800-22/src/lags.ts';
import { autocorrelations } from '../../packages/sp800-22/src/supplements/autocorrelation.ts';
import { aesStream, STRUCTURED } from './differential.ts';

const BUILDS = ['simd', 'relaxed-simd'] as const;

const COUNT = { only: [], lags: true } as const;

describe('counts at short lags', () => {
  it('are those of a sequence written out', () => {
    // 1011 0001 at lag 1: 10, 01, 10 and 01 differ; at lag 4 the first and the third of either half.
    const counts = lagCounts(Uint8Array.of(1, 0, 1, 1, 0, 0, 0, 1));
    assert.deepEqual(counts, {
      bits: 8,
      ones: 4,
      differences: [4, 4, 3, 2, 0, 0, 0, 0, 0],
    });
  });

  it('are half of what the autocorrelation at that lag lacks', () => {
    const bits = unpackBits(aesStream(3, 12_500));
    const sums = autocorrelations(bits, 128);
    const { differences } = lagCounts(bits);
    for (const [i, lag] of LAGS.entries()) {
      assert.equal(differences[i], (bits.length - lag - sums[lag - 1]) / 2, `${lag}`);
    }
  });

  for (const build of BUILDS) {
    const suite = new SuiteKernels(loadKernels(build));

    it(`agree with the kernels (${build}) at any length and offset`, () => {
      fc.assert(
        fc.property(
          fc.uint8Array({ minLength: 1, maxLength: 60 }),
          fc.nat(7),
          fc.nat(480),
          (bytes, offset, length) => {
            const offsetBits = Math.min(offset, 8 * bytes.length);
            const n = Math.min(length, 8 * bytes.length - offsetBits);
            const bits = unpackBits(bytes, n, offsetBits);
            const expected = n === 0 ? undefined : lagCounts(bits);
            assert.deepEqual(suite.run({ bytes, n, offsetBits }, COUNT).lags, expected);
          },
        ),
      );
    });

    it(`agree with the kernels (${build}) on 2^20 random bits, and on structured ones`, () => {
      const structured = Object.values(STRUCTURED).map((make) => make(4_000));
      for (const bytes of [aesStream(5, 2 ** 17), ...structured]) {
        const expected = lagCounts(unpackBits(bytes));
        assert.deepEqual(
          suite.run({ bytes, n: 8 * bytes.length, offsetBits: 0 }, COUNT).lags,
          expected,
        );
      }
    });
  }

  it('leave the bytes as they are, and nothing in the memory of the kernels', () => {
    const module = loadKernels('simd');
    const bytes = aesStream(6, 4_096);
    const before = Buffer.from(bytes);
    new SuiteKernels(module).run({ bytes, n: 32_768, offsetBits: 0 }, COUNT);
    assert.deepEqual(Buffer.from(bytes), before);
    assert.ok(module.input(4_096).every((byte) => byte === 0));
    assert.ok(module.u32('LAG_COUNTS', LAGS.length).every((count) => count === 0));
  });

  it('are in a report only if they are requested, readable and packed', () => {
    const bytes = aesStream(7, 200);
    const counted = runPackedSuite(bytes, { lags: true });
    assert.deepEqual(counted.lags, lagCounts(unpackBits(bytes)));
    assert.deepEqual(runSuite(unpackBits(bytes), { lags: true }).lags, counted.lags);
    const { lags: _, ...without } = counted;
    assert.deepEqual(runPackedSuite(bytes), without);
  });
});

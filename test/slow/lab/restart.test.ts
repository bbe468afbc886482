/** The restart tests of SP 800-90B §3.1.4. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assessRestarts } from '#sp800-90b';
import { checkSanity } from '../../../packages/sp800-90b/src/estimators/restart.ts';
import { aesBytes } from '../../sp800-90b/ea-non-iid.ts';

/** 5·10^-6 before rounding: 2000 rows and columns fail together with probability 0.01. */
const ALPHA = 1 - 0.99 ** (1 / 2000);

/**
 * Returns Pr(X ≥ count) for binomial X with 1000 trials, in exact integers: p = numerator /
 * 2^shift.
 */
function exactTail(count: number, numerator: bigint, shift: bigint): number {
  const rest = (1n << shift) - numerator;
  let sum = 0n;
  let choose = 1n;
  for (let k = 0n; k <= 1000n; k++) {
    if (k >= count) sum += choose * numerator ** k * rest ** (1000n - k);
    choose = (choose * (1000n - k)) / (k + 1n);
  }
  return Number((sum << 80n) >> (1000n * shift)) / 2 ** 80;
}

describe('the sanity check (§3.1.4.3)', () => {
  it('uses the binomial tail of the text', () => {
    for (const [count, minEntropy, numerator, shift] of [
      [572, 1, 1n, 1n],
      [104, 4, 1n, 4n],
      [19, 8, 1n, 8n],
      [810, -Math.log2(0.75), 3n, 2n],
    ] as const) {
      const exact = exactTail(count, numerator, shift);
      const { binomialTail } = checkSanity(count, minEntropy);
      assert.ok(Math.abs(binomialTail - exact) < 1e-10 * exact, `${count}: ${binomialTail}`);
    }
  });

  it('sets the cutoff for two values at the 1 − α quantile of the greater count', () => {
    // Of 1000 bits, one value or the other occurs more than m ≥ 500 times. The two tails are
    // disjoint.
    const { cutoff } = checkSanity(0, 1);
    assert.ok(2 * exactTail(cutoff + 1, 1n, 1n) <= ALPHA);
    assert.ok(2 * exactTail(cutoff, 1n, 1n) > ALPHA);
  });

  it('uses the more frequent value alone if the other is rare', () => {
    const { cutoff } = checkSanity(0, -Math.log2(0.75));
    assert.ok(exactTail(cutoff + 1, 3n, 2n) <= ALPHA);
    assert.ok(exactTail(cutoff, 3n, 2n) > ALPHA);
  });

  it('sets the cutoff for 256 values near that of the sum of their tails', () => {
    const { cutoff } = checkSanity(0, 8);
    assert.ok(256 * exactTail(cutoff + 1, 1n, 8n) <= 1.01 * ALPHA);
    assert.ok(256 * exactTail(cutoff, 1n, 8n) > ALPHA);
  });

  it('passes at the cutoff and fails above it', () => {
    const { cutoff } = checkSanity(0, 3.5);
    assert.equal(checkSanity(cutoff, 3.5).passed, true);
    assert.equal(checkSanity(cutoff + 1, 3.5).passed, false);
  });
});

// test/campaigns/estimators.test.ts checks sources that pass, which take longer.
describe('assessRestarts', () => {
  it('fails a source with similar restarts and awards nothing', () => {
    const first = aesBytes().subarray(0, 1_000);
    const matrix = Uint8Array.from({ length: 1_000_000 }, (_, i) => first[i % 1_000] & 1);
    const ours = assessRestarts(matrix, { bitsPerSymbol: 1, initialMinEntropy: 0.9 });
    assert.equal(ours.sanityCheck.maxCount, 1_000);
    assert.deepEqual([ours.sanityCheck.passed, ours.validationPassed], [false, false]);
    assert.ok(ours.hColumns < 0.01);
    assert.equal(ours.minEntropyPerSymbol, 0);
  });

  it('rejects another size and an H_I out of range', () => {
    const options = { bitsPerSymbol: 1, initialMinEntropy: 0.5 };
    assert.throws(() => assessRestarts(new Uint8Array(999_999), options), {
      name: 'RangeError',
      message: /"matrix" expected 1000000 samples, .* got 999999/,
    });
    for (const initialMinEntropy of [0, -1, 1.01, Number.NaN]) {
      const matrix = new Uint8Array(1_000_000);
      assert.throws(() => assessRestarts(matrix, { bitsPerSymbol: 1, initialMinEntropy }), {
        name: 'RangeError',
        message: /"initialMinEntropy" expected a number above 0 and at most 1/,
      });
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  adaptiveProportionCutoff,
  adaptiveProportionWindow,
  rareCount,
  repetitionCountCutoff,
} from '../../packages/sp800-90b/src/health/cutoffs.ts';

const OVERSAMPLING_RATES = Array.from({ length: 20 }, (_, i) => i + 1);

describe('the cutoff of the repetition count test (SP 800-90B §4.4.1)', () => {
  it('equals that of OpenSSL 3.5, fips_crng_test.c: α = 2^-20, H = 0.5, 1 … 8', () => {
    const cutoffs = [0.5, 1, 2, 3, 4, 5, 6, 7, 8].map((H) => repetitionCountCutoff(-20, H));
    assert.deepEqual(cutoffs, [41, 21, 11, 8, 6, 5, 5, 4, 4]);
  });

  it('is 41 in Go, crypto/internal/entropy v1.0.0: α = 2^-20, H = 0.5', () => {
    assert.equal(repetitionCountCutoff(-20, 0.5), 41);
  });

  it('is 41 in XNU, osfmk/prng/entropy.c: α = 2^-40, H = 1', () => {
    assert.equal(repetitionCountCutoff(-40, 1), 41);
  });

  it('is 52 and 40 in Chromium EC, board/cr50/fips_rand.h: α = 2^-39 and 2^-30, H = 0.77', () => {
    assert.equal(repetitionCountCutoff(-39, 0.77), 52);
    assert.equal(repetitionCountCutoff(-30, 0.77), 40);
  });

  it('is 1 above the 30·osr and 60·osr repetitions of jitterentropy-library: H = 1/osr', () => {
    // The library counts from zero, the standard from one.
    for (const osr of OVERSAMPLING_RATES) {
      assert.equal(repetitionCountCutoff(-30, 1 / osr), 30 * osr + 1);
      assert.equal(repetitionCountCutoff(-60, 1 / osr), 60 * osr + 1);
    }
  });
});

describe('the corrected cutoff of the adaptive proportion test (SP 800-90B §4.4.2)', () => {
  it('uses a window of 1,024 binary samples or 512 others', () => {
    assert.deepEqual([1, 2, 8].map(adaptiveProportionWindow), [1024, 512, 512]);
  });

  // Tables of src/jitterentropy-health.c, computed there with mpmath, for osr 1 … 20. Up to osr 15
  // the first two are also those of Linux, crypto/jitterentropy.c; the others are those of its
  // NTG.1 mode.
  const jitterentropy: readonly (readonly [alphaLog2: number, factor: number, table: string])[] = [
    [-30, 1, '325 422 459 477 488 494 499 502 505 507 508 509 510 511 512 512 512 512 512 512'],
    [-60, 1, '355 447 479 494 502 507 510 512 512 512 512 512 512 512 512 512 512 512 512 512'],
    [-30, 8, '17 71 136 191 236 272 301 325 345 361 375 388 398 407 415 422 429 434 439 444'],
    [-60, 8, '26 92 162 221 267 303 332 355 375 390 404 415 425 433 440 447 453 458 462 466'],
  ];
  for (const [alphaLog2, factor, table] of jitterentropy) {
    it(`equals that of jitterentropy-library: α = 2^${alphaLog2}, H = ${factor}/osr`, () => {
      const cutoffs = OVERSAMPLING_RATES.map((osr) =>
        adaptiveProportionCutoff(alphaLog2, factor / osr, 512),
      );
      assert.deepEqual(cutoffs, table.split(' ').map(Number));
    });
  }

  it('is 0 or 1 above the printed one, 1 + critbinom(W, 2^-H, 1 − α), below the clamp', () => {
    const seen = new Set<number>();
    for (let H = 0.1; H <= 8; H += 0.05) {
      for (const [alphaLog2, W] of [
        [-20, 512],
        [-40, 1024],
      ] as const) {
        const corrected = adaptiveProportionCutoff(alphaLog2, H, W);
        if (corrected < W) seen.add(corrected - rareCount(alphaLog2, H, W));
      }
    }
    assert.deepEqual([...seen].sort(), [0, 1]);
  });

  it('is at most the window, so that the test can fail', () => {
    assert.equal(rareCount(-60, 1 / 10, 511), 512, 'no count of matches is rare enough');
    assert.equal(adaptiveProportionCutoff(-60, 1 / 10, 512), 512);
    assert.equal(adaptiveProportionCutoff(-60, 1e-6, 1024), 1024);
  });
});

describe('the printed cutoff of the adaptive proportion test', () => {
  it('equals Table 2 for 512 samples as in OpenSSL 3.5, fips_crng_test.c: α = 2^-20, H = 0.5, 1 … 8', () => {
    const printed = [0.5, 1, 2, 3, 4, 5, 6, 7, 8].map((H) => rareCount(-20, H, 512));
    assert.deepEqual(printed, [410, 311, 177, 103, 62, 39, 25, 18, 13]);
    const corrected = [0.5, 1, 2, 3, 4, 5, 6, 7, 8].map((H) =>
      adaptiveProportionCutoff(-20, H, 512),
    );
    assert.deepEqual(corrected, [411, 311, 178, 104, 63, 40, 26, 18, 14]);
  });

  it('is 410 in Go, crypto/internal/entropy v1.0.0: α = 2^-20, H = 0.5', () => {
    assert.equal(rareCount(-20, 0.5, 512), 410);
  });

  it('is 13 in the datasheet of the nRF54LS05B, Adaptive Proportion Test: α = 2^-20, H = 8', () => {
    assert.equal(rareCount(-20, 8, 512), 13);
  });

  it('is 336 in XNU, osfmk/prng/entropy.c: α = 2^-40, H = 1', () => {
    assert.equal(rareCount(-40, 1, 512), 336);
    assert.equal(adaptiveProportionCutoff(-40, 1, 512), 337);
  });

  it('is 1 above that of Chromium EC, board/cr50/fips_rand.h, which is critbinom alone', () => {
    // α = 2^-39 and 2^-30, H = 0.77, W = 1,024.
    assert.equal(rareCount(-39, 0.77, 1024) - 1, 708);
    assert.equal(rareCount(-30, 0.77, 1024) - 1, 694);
  });
});

/**
 * Returns true if P(X ≥ k) ≤ 2^alphaLog2 for X ~ Binomial(n, numerator/denominator), without
 * rounding.
 */
function isRare(
  k: number,
  alphaLog2: number,
  n: number,
  [numerator, denominator]: readonly [bigint, bigint],
): boolean {
  let choose = 1n;
  let tail = 0n;
  for (let j = n; j >= k; j--) {
    tail += choose * numerator ** BigInt(j) * (denominator - numerator) ** BigInt(n - j);
    choose = (choose * BigInt(j)) / BigInt(n - j + 1);
  }
  return tail << BigInt(-alphaLog2) <= denominator ** BigInt(n);
}

describe('the tail behind the cutoffs', () => {
  const cases: readonly (readonly [H: number, p: readonly [bigint, bigint]])[] = [
    [1, [1n, 2n]],
    [2, [1n, 4n]],
    [8, [1n, 256n]],
    [-Math.log2(0.75), [3n, 4n]],
    [-Math.log2(0.9), [9n, 10n]],
  ];
  for (const [H, p] of cases) {
    it(`agrees with rational arithmetic at p = ${p.join('/')}`, () => {
      for (const trials of [511, 1023]) {
        for (const alphaLog2 of [-20, -30, -40, -60]) {
          const k = rareCount(alphaLog2, H, trials);
          assert.ok(isRare(k, alphaLog2, trials, p), `${k} of ${trials} at 2^${alphaLog2}`);
          assert.ok(!isRare(k - 1, alphaLog2, trials, p), `${k - 1} of ${trials}`);
        }
      }
    });
  }

  it('is accurate far below the smallest double', () => {
    assert.ok(isRare(rareCount(-1000, 1, 1023), -1000, 1023, [1n, 2n]));
    assert.equal(rareCount(-1000, 1, 500), 501);
  });
});

describe('arguments of the cutoffs', () => {
  it('are rejected outside their range', () => {
    for (const alphaLog2 of [0, 1, -1001, Number.NaN]) {
      assert.throws(() => repetitionCountCutoff(alphaLog2, 1), {
        name: 'RangeError',
        message: `"alphaLog2" expected a number from -1000 to below 0, got ${alphaLog2}`,
      });
    }
    for (const H of [0, -1, Infinity, Number.NaN]) {
      assert.throws(() => adaptiveProportionCutoff(-30, H, 512), {
        name: 'RangeError',
        message: `"H" expected a number above 0, got ${H}`,
      });
    }
    for (const W of [1, 2.5, Number.NaN]) {
      assert.throws(() => adaptiveProportionCutoff(-30, 1, W), /"windowSamples" expected/);
    }
  });
});

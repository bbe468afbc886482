/** The distributions of p-values: enumerated for short sequences, and compared with saved simulations. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  blockFrequency,
  cumulativeSums,
  fitProbability,
  frequency,
  NIST_PARAMETERS,
  resolveParameters,
  runs,
  SUPPLEMENT_NAMES,
  TEST_NAMES,
  type TestName,
  type TestResult,
  uniformityPValue,
} from '#sp800-22';
import type { LengthCounts } from '../../packages/lab/studies/second-level/counts.ts';
import { distance } from '../../packages/lab/studies/second-level/limits.ts';
import { classOf, type PValueLaw, pValueLaw } from '../../packages/sp800-22/src/p-value-laws.ts';
import {
  hasKnownDistribution,
  notMeasured,
} from '../../packages/sp800-22/src/second-level-limits.ts';
import { judgeRank, rankProbabilities } from '../../packages/sp800-22/src/tests/rank.ts';

const COUNTS = new URL('../../docs/evidence/second-level/counts.json', import.meta.url);
const saved: Record<string, LengthCounts> = JSON.parse(readFileSync(COUNTS, 'utf8'));

/** Returns the law with the NIST program's parameters. */
function lawOf(test: TestName, n: number): PValueLaw {
  const parameters = resolveParameters(n, NIST_PARAMETERS);
  return pValueLaw({ test, index: 1, label: '' }, n, parameters);
}

function assertClose(actual: PValueLaw, classes: readonly number[], belowAlpha: number): void {
  for (const [i, probability] of classes.entries()) {
    assert.ok(Math.abs(actual.classes[i] - probability) < 1e-12, `${actual.classes} ${classes}`);
  }
  assert.ok(Math.abs(actual.belowAlpha - belowAlpha) < 1e-12);
}

describe('the exact distributions', () => {
  const N = 13;
  const tests = { frequency, cumulative_sums: cumulativeSums, runs } as const;
  for (const [name, run] of Object.entries(tests) as [
    keyof typeof tests,
    (bits: Uint8Array) => TestResult,
  ][]) {
    it(`of ${name} count all strings of ${N} bits`, () => {
      const classes = new Array<number>(10).fill(0);
      let below = 0;
      // The two constant strings have no p-value of the runs test.
      const [first, last] = name === 'runs' ? [1, 2 ** N - 2] : [0, 2 ** N - 1];
      const each = 1 / (last - first + 1);
      for (let value = first; value <= last; value++) {
        const bits = Uint8Array.from({ length: N }, (_, i) => (value >> i) & 1);
        const [p] = run(bits).pValues;
        classes[classOf(p)] += each;
        if (p < 0.01) below += each;
      }
      assertClose(lawOf(name, N), classes, below);
    });
  }

  it('of rank add the trinomial probabilities of 38 matrices', () => {
    const N = 38;
    const pi = rankProbabilities(32);
    const logFactorial = (k: number): number => (k < 2 ? 0 : Math.log(k) + logFactorial(k - 1));
    const classes = new Array<number>(10).fill(0);
    let below = 0;
    for (let full = 0; full <= N; full++) {
      for (let one = 0; full + one <= N; one++) {
        const counts = [full, one, N - full - one];
        const [p] = judgeRank(N, full, one, pi).pValues;
        const probability = Math.exp(
          counts.reduce(
            (sum, k, i) => sum + k * Math.log(pi[i]) - logFactorial(k),
            logFactorial(N),
          ),
        );
        classes[classOf(p)] += probability;
        if (p < 0.01) below += probability;
      }
    }
    assertClose(lawOf('rank', N * 1024), classes, below);
  });
});

describe('the exact distribution of block_frequency', () => {
  it('counts all strings of two blocks of eight bits', () => {
    const [N, M] = [2, 8];
    const classes = new Array<number>(10).fill(0);
    let below = 0;
    for (let value = 0; value < 2 ** (N * M); value++) {
      const bits = Uint8Array.from({ length: N * M }, (_, i) => (value >> i) & 1);
      const [p] = blockFrequency(bits, { M }).pValues;
      classes[classOf(p)] += 2 ** -(N * M);
      if (p < 0.01) below += 2 ** -(N * M);
    }
    const parameters = { ...resolveParameters(100), blockFrequencyM: [M] };
    const row = { test: 'block_frequency', index: 1, label: '' };
    assertClose(pValueLaw(row, N * M, parameters), classes, below);
  });

  it('agrees with the simulations of blocks of 128 bits', () => {
    const lengths = Object.keys(saved).filter((n) => Number(n) <= 12_800 && Number(n) >= 128);
    assert.ok(lengths.length > 5);
    for (const n of lengths) {
      const { squared, standardError } = distance(
        saved[n].block_frequency,
        lawOf('block_frequency', Number(n)),
      );
      assert.ok(squared < 5 * standardError, `${n} bits: ${squared} ± ${standardError}`);
    }
  });
});

describe('the approximate distributions', () => {
  for (const test of ['dft', 'universal', 'approximate_entropy'] as const) {
    it(`of ${test} agree with the simulations`, () => {
      const lengths = Object.keys(saved).filter((n) => saved[n][test]?.sequences > 10_000);
      assert.ok(lengths.length > 0);
      for (const n of lengths) {
        const counts = saved[n][test];
        const law = lawOf(test, Number(n));
        const { squared, standardError } = distance(counts, law);
        assert.ok(squared < 5 * standardError, `${n} bits: ${squared} ± ${standardError}`);
        const share = counts.below / counts.sequences;
        const sigma = Math.sqrt(law.belowAlpha / counts.sequences);
        assert.ok(Math.abs(share - law.belowAlpha) < 4 * sigma, `${n} bits: ${share}`);
      }
    });
  }
});

describe('the fit of classes to a distribution', () => {
  const uniform = { classes: new Array<number>(10).fill(0.1), belowAlpha: 0.01, exact: true };

  it('is P-value_T for uniform p-values', () => {
    const histogram = [12, 5, 8, 9, 13, 10, 11, 7, 14, 11];
    assert.equal(fitProbability(histogram, uniform), uniformityPValue(histogram));
  });

  it('joins classes that expect fewer than 5', () => {
    const classes = [0.5, 0.02, 0.02, 0.02, 0.04, 0, 0, 0, 0.35, 0.05];
    // Of 100: 50, 6 of three classes, then 39 of five and the rest of 5.
    const p = fitProbability([50, 6, 0, 0, 4, 0, 0, 0, 35, 5], { ...uniform, classes });
    assert.ok(p > 1 - 1e-12);
    assert.ok(fitProbability([40, 16, 0, 0, 4, 0, 0, 0, 35, 5], { ...uniform, classes }) < 1e-3);
  });
});

describe('rows of the second level', () => {
  it('are judged only if their distribution is known, as that of each test and supplement is', () => {
    for (const row of [...TEST_NAMES, ...SUPPLEMENT_NAMES]) {
      assert.ok(hasKnownDistribution(row), `give ${row} a law, or measure its limits`);
    }
    const row = { test: 'even_places', index: 1, label: '' };
    assert.equal(hasKnownDistribution(row.test), false);
    assert.match(
      notMeasured(row, resolveParameters(1000, NIST_PARAMETERS), 'exact') ?? '',
      /is not known$/,
    );
  });
});

/** The second level: figures computed by hand, and simulated sources, sound and faulty. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  erfc,
  FAMILY_ALPHA,
  type JudgedRow,
  judgeSecondLevel,
  NIST_PARAMETERS,
  PValueTally,
  proportionInterval,
  proportionProbability,
  type RowCounts,
  rowLabels,
  runSuite,
  type SecondLevelVerdict,
  type SuiteReport,
  sequencePValues,
  TEST_NAMES,
  type TestName,
  uniformityPValue,
} from '#sp800-22';

/** At this length the distributions of p-values are closest to the uniform one. */
const LONG = 2 ** 20;

const close = (actual: number, expected: number, bound: number): void =>
  assert.ok(Math.abs(actual - expected) < bound, `${actual}, expected ${expected}`);

/** Returns uniform numbers within [0, 1), the same in every run (the generator mulberry32). */
function makeUniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Rows with the parameters of the NIST program: 188 of the tests of the standard. */
const ROWS = TEST_NAMES.flatMap((name) => rowLabels(name, 2 ** 20, NIST_PARAMETERS)).length;

/** Computes the p-value of a row from uniform numbers; `undefined` if the test does not apply. */
type PValueOf = (test: TestName, index: number, uniform: () => number) => number | undefined;

const sound: PValueOf = (_test, _index, uniform) => uniform();

function makeReport(uniform: () => number, pValueOf: PValueOf): SuiteReport {
  const tests = TEST_NAMES.map((name) => {
    const pValues = rowLabels(name, 2 ** 20, NIST_PARAMETERS).map((_, i) =>
      pValueOf(name, i + 1, uniform),
    );
    if (pValues[0] === undefined) return { name, applicable: false, reason: 'simulated' } as const;
    return {
      name,
      applicable: true,
      pValues: pValues as number[],
      statistics: {},
      passed: true,
      prerequisiteMet: true,
    } as const;
  });
  return {
    bits: 2 ** 20,
    constants: 'exact',
    parameters: {},
    tests,
    testsPassed: TEST_NAMES.length,
    totalTests: TEST_NAMES.length,
  };
}

/** Returns the verdict on a simulated source. */
function judge(sequences: number, seed: number, pValueOf: PValueOf = sound): SecondLevelVerdict {
  const uniform = makeUniform(seed);
  const tally = new PValueTally(TEST_NAMES, 2 ** 20, NIST_PARAMETERS);
  for (let i = 0; i < sequences; i++) tally.add(makeReport(uniform, pValueOf));
  const verdict = judgeSecondLevel(tally.sequences, tally.rows, LONG);
  assert.ok(verdict.judged);
  return verdict;
}

const failedRows = ({ rows }: SecondLevelVerdict): string[] =>
  rows.flatMap((row) => (row.judged && !row.passed ? [`${row.test} ${row.index}`] : []));

/** Returns a row with this many passes and evenly spread p-values. */
function row(passes: number, sequences: number): RowCounts {
  const histogram = new Array<number>(10).fill(sequences / 10);
  return { test: 'frequency', index: 1, label: '', sequences, passes, histogram };
}

function judgeOne(counts: RowCounts): JudgedRow {
  const verdict = judgeSecondLevel(counts.sequences, [counts], LONG);
  assert.ok(verdict.judged && verdict.rows[0].judged);
  return verdict.rows[0];
}

test('the interval matches the worked example: 1000 sequences, 0.99 ± 0.0094392 (§4.2.1)', () => {
  const [low, high] = proportionInterval(1000);
  close(low, 0.9805607, 5e-8);
  close(high, 0.9994393, 5e-8);
});

test('the interval includes 996 of 1000, as in the worked example, but not 980 or 1000', () => {
  const inside = [980, 981, 996, 999, 1000].map((passes) => judgeOne(row(passes, 1000)).inInterval);
  assert.deepEqual(inside, [false, true, true, true, false]);
  assert.equal(judgeOne(row(996, 1000)).proportion, 0.996);
});

test('the interval ends at 1 and includes 100 of 100', () => {
  assert.equal(proportionInterval(100)[1], 1);
  assert.equal(judgeOne(row(100, 100)).inInterval, true);
});

test('a proportion is judged by its exact two-sided tail, not by the normal law', () => {
  // P(X ≥ 4), X ~ Binomial(100, 1/100): one less 0.99^100 + 100·0.99^99/100 + C(100,2)·0.99^98/10^4
  // + C(100,3)·0.99^97/10^6.
  const three = 4950 * 1e-4 * 0.99 ** 98 + 161_700 * 1e-6 * 0.99 ** 97;
  close(proportionProbability(96, 100), 2 * (1 - (0.99 ** 100 + 0.99 ** 99 + three)), 1e-12);
  close(proportionProbability(55, 55), 1, 1e-12);
  close(proportionProbability(1000, 1000), 2 * 0.99 ** 1000, 1e-15);
  assert.equal(proportionProbability(0, 1000), 0);
});

/**
 * Returns Q(9/2, x) in its closed form, erfc(√x) + e^(−x) Σ x^(k − 1/2) / Γ(k + 1/2) for k = 1 … 4, with
 * Γ(3/2) = √π/2, Γ(5/2) = 3√π/4, Γ(7/2) = 15√π/8, Γ(9/2) = 105√π/16.
 */
function chi2Tail9(chi2: number): number {
  const x = chi2 / 2;
  const sum = 2 + (4 * x) / 3 + (8 * x * x) / 15 + (16 * x ** 3) / 105;
  return erfc(Math.sqrt(x)) + Math.exp(-x) * Math.sqrt(x / Math.PI) * sum;
}

test('P-value_T follows χ² with nine degrees: 1 for equal classes, 0.0179 at 20 (§4.2.2)', () => {
  assert.equal(uniformityPValue(new Array(10).fill(7)), 1);
  // s = 100: two classes are off by 10 of 10 each, χ² = 2 · 10² / 10.
  const p = uniformityPValue([20, 0, 10, 10, 10, 10, 10, 10, 10, 10]);
  close(p, chi2Tail9(20), 1e-14);
  close(p, 0.0179124, 5e-8);
  assert.ok(uniformityPValue([1000, 0, 0, 0, 0, 0, 0, 0, 0, 0]) < 1e-300);
});

test('the number of p-values is divided by ten exactly, unlike in the NIST program', () => {
  // s = 55: each class is off by 0.5 of 5.5, χ² = 10 · 0.25 / 5.5 = 5/11. In integers it would be 1.
  const p = uniformityPValue([6, 5, 6, 5, 6, 5, 6, 5, 6, 5]);
  close(p, chi2Tail9(5 / 11), 1e-14);
  assert.ok(p - chi2Tail9(1) > 5e-4);
});

test('p-values fall into ten classes: 0.1 into the second and 1 into the last', () => {
  const tally = new PValueTally(TEST_NAMES, 2 ** 20, NIST_PARAMETERS);
  const ps = [0, 0.0099999, 0.01, 0.1, 0.25, 0.9, 0.999, 1];
  for (const p of ps) tally.add(makeReport(Math.random, () => p));
  const [first] = tally.rows;
  assert.deepEqual(first.histogram, [3, 1, 1, 0, 0, 0, 0, 0, 0, 3]);
  assert.deepEqual([first.sequences, first.passes], [8, 6]);
});

test('the verdict has a labelled row for each p-value, in the order of the tests', () => {
  const rows = new PValueTally().rows.map(({ test, index, label }) => `${test} ${index} ${label}`);
  assert.equal(rows.length, ROWS + 1);
  assert.deepEqual(rows.slice(0, 5), [
    'frequency 1 ',
    'block_frequency 1 M = 128',
    'block_frequency 2 M = 16384',
    'cumulative_sums 1 forward',
    'cumulative_sums 2 reverse',
  ]);
  const serial = rows.indexOf('serial 1 del1');
  assert.deepEqual(rows.slice(serial + 1, serial + 3), ['serial 2 del2', 'linear_complexity 1 ']);
});

test('the verdict counts the p-values of the suite', () => {
  const tally = new PValueTally(['frequency', 'rank']);
  const report = runSuite(new Uint8Array(1000), { only: ['rank', 'frequency'] });
  tally.add(report);
  assert.deepEqual(
    tally.rows.map(({ test, sequences, passes, histogram }) => [
      test,
      sequences,
      passes,
      histogram[0],
    ]),
    [
      ['frequency', 1, 0, 1],
      ['rank', 0, 0, 0],
    ],
  );
  assert.throws(() => tally.add(runSuite(new Uint8Array(1000))), RangeError);
});

test('fewer than 55 sequences are not judged, and the reason gives their number', () => {
  const reason = 'needs at least 55 sequences, got 54';
  assert.deepEqual(judgeSecondLevel(54, [row(54, 54)], LONG), { judged: false, reason });
  assert.equal(judgeSecondLevel(55, [row(55, 55)], LONG).judged, true);
});

test('a length that is missing or no number of bits is refused', () => {
  for (const n of [undefined, -1, 1.5, Number.NaN]) {
    assert.throws(
      () => judgeSecondLevel(55, [row(55, 55)], n as number),
      /^(?:Range|Type)Error: "n" expected/,
    );
  }
});

test('rows of a test that applied to fewer than 55 are not judged or counted as checks', () => {
  let i = 0;
  const verdict = judge(100, 1, (test, index, uniform) => {
    if (test === 'frequency') i++;
    return test.startsWith('random_excursions') && i > 54 ? undefined : sound(test, index, uniform);
  });
  assert.deepEqual([verdict.rowsJudged, verdict.checks], [ROWS - 26, 2 * (ROWS - 26)]);
  const excursions = verdict.rows.find(({ test }) => test === 'random_excursions');
  assert.ok(excursions && !excursions.judged);
  assert.deepEqual(
    [excursions.sequences, excursions.reason],
    [54, 'needs at least 55 sequences, got 54'],
  );
});

test('a source is not judged if no test applied often enough', () => {
  assert.deepEqual(judgeSecondLevel(100, [row(20, 20)], LONG), {
    judged: false,
    reason: 'no test applied to enough of the sequences',
  });
});

test('at most 1 % of 300 simulated sound sources fail; the standard’s limits flag 97 %', () => {
  const SOURCES = 300;
  let failed = 0;
  let flagged = 0;
  let outside = 0;
  let expectedOutside = 0;
  for (let seed = 1; seed <= SOURCES; seed++) {
    const verdict = judge(100, seed);
    if (!verdict.passed) failed++;
    if (verdict.rowsOutsideInterval > 0) flagged++;
    outside += verdict.rowsOutsideInterval;
    expectedOutside += verdict.expectedOutsideInterval;
  }
  // At most FAMILY_ALPHA · 300 = 3 are expected; 10 and more have a probability of 0.1 %.
  assert.ok(failed >= 1 && failed < 10, `${failed} of ${SOURCES} sound sources failed`);
  // 1 − (1 − P(X ≥ 4))^188 = 0.969 for X ~ Binomial(100, 1/100).
  close(flagged / SOURCES, 1 - (1 - 0.018_374) ** ROWS, 0.02);
  // 188 · P(X ≥ 4) = 3.45 rows per source.
  close(expectedOutside / SOURCES, ROWS * 0.018_374, 0.001);
  close(outside / SOURCES, expectedOutside / SOURCES, 0.2);
});

test('the only row that fails is the one with 6 % instead of 1 % below 0.01', () => {
  const verdict = judge(1000, 7, (test, index, uniform) => {
    const p = uniform();
    return test === 'non_overlapping_template' && index === 17 && p > 0.95 ? p / 200 : p;
  });
  assert.deepEqual(failedRows(verdict), ['non_overlapping_template 17']);
  assert.deepEqual([verdict.passed, verdict.rowsFailed], [false, 1]);
});

test('the only row that fails is the one without uniform p-values, despite its proportion', () => {
  const verdict = judge(1000, 8, (test, _index, uniform) => {
    const p = uniform();
    // Pushed towards 1, except for those below 0.01.
    return test === 'dft' && p >= 0.01 ? 0.01 + 0.99 * ((p - 0.01) / 0.99) ** 0.7 : p;
  });
  assert.deepEqual(failedRows(verdict), ['dft 1']);
  const dft = verdict.rows.find(({ test }) => test === 'dft');
  assert.ok(dft?.judged && dft.inInterval && !dft.uniform);
});

test('a source that is too good fails: every sequence passes', () => {
  const verdict = judge(2000, 9, (test, _index, uniform) => {
    const p = uniform();
    return test === 'rank' ? 0.01 + 0.99 * p : p;
  });
  assert.deepEqual(failedRows(verdict), ['rank 1']);
  const rank = verdict.rows.find(({ test }) => test === 'rank');
  assert.ok(rank?.judged && rank.uniform && rank.passes === 2000);
});

test('a broken source of 55 sequences fails in every row', () => {
  const verdict = judge(55, 10, () => 0);
  assert.equal(verdict.rowsFailed, ROWS);
});

test('the level is shared equally among two checks per row', () => {
  const verdict = judge(60, 11);
  assert.deepEqual([verdict.familyAlpha, verdict.checks], [FAMILY_ALPHA, 2 * ROWS]);
  close(verdict.checkAlpha, 0.01 / (2 * ROWS), 1e-18);
  for (const one of verdict.rows) {
    assert.ok(one.judged);
    assert.equal(
      one.passed,
      one.proportionP >= verdict.checkAlpha && one.uniformityP >= verdict.checkAlpha,
    );
  }
});

test('P-value_T does not depend on the order of classes, and falls as one class deviates', () => {
  const histograms = fc.array(fc.nat({ max: 200 }), { minLength: 10, maxLength: 10 });
  fc.assert(
    fc.property(histograms, (histogram) => {
      fc.pre(histogram.some((F) => F > 0));
      const p = uniformityPValue(histogram);
      assert.ok(p >= 0 && p <= 1);
      close(uniformityPValue(histogram.toReversed()), p, 1e-12);
      const doubled = uniformityPValue(histogram.map((F) => 2 * F));
      assert.ok(doubled <= p, `${doubled} above ${p}`);
    }),
  );
});

test('the probability of a proportion falls on either side of its middle', () => {
  fc.assert(
    fc.property(fc.integer({ min: 55, max: 5000 }), (m) => {
      const mean = 0.99 * m;
      for (let i = 1; i < 20; i++) {
        const below = Math.floor(mean) - i;
        assert.ok(proportionProbability(below - 1, m) <= proportionProbability(below, m));
        const above = Math.ceil(mean) + i;
        if (above >= m) continue;
        assert.ok(proportionProbability(above + 1, m) <= proportionProbability(above, m));
      }
    }),
  );
});

/** Returns a row of `dft` with these counts; its distribution at 1,000 bits is known for 5,400 and 14,000 sequences. */
function dftRow(sequences: number, passes: number): RowCounts {
  const histogram = new Array<number>(10).fill(sequences / 10);
  return { test: 'dft', index: 1, label: '', sequences, passes, histogram };
}

test('above its limit a check has the counts in proportion, rounded towards those of a sound source', () => {
  const judged = (sequences: number, passes: number) => {
    const verdict = judgeSecondLevel(sequences, [dftRow(sequences, passes)], 1000);
    assert.ok(verdict.judged && verdict.rows[0].judged);
    return verdict.rows[0];
  };
  for (const [share, failures] of [
    [0.98, 108],
    [0.9800001, 107],
    [1, 0],
    [0, 5400],
  ]) {
    const { proportionCheck } = judged(54_000_000, Math.round(54_000_000 * share));
    const same = judged(5400, 5400 - failures).proportionCheck;
    assert.ok(proportionCheck.judged && same.judged);
    assert.deepEqual([proportionCheck.p, proportionCheck.limit], [same.p, 5400]);
    assert.equal(same.limit, undefined);
  }
  const { uniformityCheck } = judged(28_000, 27_720);
  const same = judged(14_000, 13_860).uniformityCheck;
  assert.deepEqual(uniformityCheck, { ...same, limit: 14_000 });
});

test('rows with another parameter than the measured one are not judged, nor overlapping templates by nist constants', () => {
  const of = (name: TestName): RowCounts => ({ ...row(990, 1000), test: name });
  const reasonOf = (...args: Parameters<typeof judgeSecondLevel>): string => {
    const verdict = judgeSecondLevel(...args);
    return verdict.judged ? 'judged' : verdict.reason;
  };
  const known = 'the distribution of its p-values is known for';
  for (const [name, parameters, reason] of [
    ['serial', { serialM: 2 }, `${known} m = 16 only, got 2`],
    ['approximate_entropy', { approximateEntropyM: 1 }, `${known} m = 10 only, got 1`],
    ['linear_complexity', { linearComplexityM: 5000 }, `${known} M = 500 only, got 5000`],
    ['non_overlapping_template', { templateM: 10 }, `${known} m = 9 only, got 10`],
    ['overlapping_template', { overlappingM: 5 }, `${known} m = 9 only, got 5`],
  ] as const) {
    assert.equal(reasonOf(1000, [of(name)], LONG, parameters), reason);
    assert.equal(reasonOf(1000, [of(name)], LONG), 'judged');
  }
  const overlapping = [of('overlapping_template')];
  assert.equal(reasonOf(1000, overlapping, LONG, {}, 'nist'), `${known} exact constants only`);
  const both = [of('serial'), of('approximate_entropy')];
  assert.equal(
    reasonOf(1000, both, LONG, { serialM: 2, approximateEntropyM: 1 }),
    'the distributions of the p-values are not known well enough',
  );
});

test('runs that is not carried out has the probability of its share of ones, among such sequences', () => {
  const ofOnes = (ones: number): number | undefined => {
    const bits = new Uint8Array(10_000).fill(1, 0, ones);
    const entered = sequencePValues(runSuite(bits, { only: ['runs'] }));
    assert.equal(entered.length, 1);
    return entered[0].p;
  };
  // 4 √n = 400: carried out at 5,199 ones, where the bits have two runs only.
  assert.ok((ofOnes(5199) ?? 1) < 1e-300);
  assert.equal(ofOnes(5200), 1);
  close(ofOnes(5250) ?? 1, erfc(5 / Math.SQRT2) / erfc(4 / Math.SQRT2), 1e-12);
  assert.equal(ofOnes(10_000), 0);
});

/** The JSON of a report: it identifies every p-value, names every parameter, and repeats nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ALPHA, runSuite, TEST_NAMES, type TestName, toAssessReport, unpackBits } from '#sp800-22';
import { aesCtr } from '../support/lab/aes-stream.ts';

/** An AES-256-CTR stream: sound, all 15 tests apply, and the same in every run. */
const bits = unpackBits(aesCtr(Buffer.alloc(32, 2), 2 ** 17));
const suite = runSuite(bits);
const report = toAssessReport(suite);

/** Parameters at 2^20 bits: docs/statistical-tests.md, "The tests"; N, K and M of §2.7 follow. */
const PARAMETERS: Partial<Record<TestName, Record<string, number | number[]>>> = {
  block_frequency: { M: [128, 16_384], N: [8192, 64] },
  longest_run: { M: 10_000, N: 104 },
  rank: { M: 32, Q: 32, N: 1024 },
  dft: {},
  non_overlapping_template: { m: 9, M: 131_072, N: 8 },
  overlapping_template: { m: 9, M: 1032, N: 1016 },
  universal: { L: 7, Q: 1280, K: 148_516, expected_value: 6.1962507, variance: 3.125 },
  approximate_entropy: { m: 10 },
  serial: { m: 16 },
  linear_complexity: { M: 500, N: 2097 },
};

describe('a suite report as JSON', () => {
  it('names each p-value uniquely by test and label', () => {
    const names = report.tests.flatMap(({ name, labels }) => labels.map((one) => `${name} ${one}`));
    const pValues = suite.tests.flatMap((test) => (test.applicable ? test.pValues : []));
    assert.equal(names.length, pValues.length);
    assert.equal(new Set(names).size, names.length);
    for (const { labels, p_values } of report.tests) assert.equal(labels.length, p_values.length);
  });

  it('contains every p-value and verdict of the suite unchanged', () => {
    for (const [i, test] of report.tests.entries()) {
      const outcome = suite.tests[i];
      assert.ok(outcome.applicable);
      assert.deepEqual([test.name, test.p_values], [outcome.name, outcome.pValues]);
      assert.equal(test.passed, outcome.passed);
      assert.equal(test.passed, (test.corrected_p ?? 0) >= report.alpha);
    }
    const { alpha, tests_passed, total_tests } = report;
    assert.deepEqual(
      [alpha, tests_passed, total_tests],
      [ALPHA, suite.testsPassed, TEST_NAMES.length],
    );
  });

  it('contains the parameters of each test apart from its statistics', () => {
    for (const [i, { name, parameters, statistics }] of report.tests.entries()) {
      const { pi, T2_over_n, ...plain } = parameters;
      assert.deepEqual(plain, PARAMETERS[name] ?? {}, name);
      const outcome = suite.tests[i];
      assert.ok(outcome.applicable);
      const told = { ...statistics, ...parameters };
      for (const [symbol, value] of Object.entries(outcome.statistics)) {
        assert.deepEqual(told[symbol], value, `${name} ${symbol}`);
        assert.ok(!(symbol in statistics && symbol in parameters), `${name} ${symbol} twice`);
      }
    }
  });

  it('contains the constants of the p-values, in both sets', () => {
    const first = (constants: 'exact' | 'nist', name: TestName): number => {
      const { tests } = toAssessReport({ ...suite, constants });
      const { pi, T2_over_n } = tests.find((test) => test.name === name)?.parameters ?? {};
      return Number([pi ?? T2_over_n].flat()[0]);
    };
    const figures: [TestName, exact: number, nist: number][] = [
      ['longest_run', 0.08663231107995278, 0.0882],
      ['dft', Math.log(20), 2.995732274],
      ['overlapping_template', 0.36409105321672786, 0.36787944117144233],
      ['linear_complexity', 1 / 96, 0.01047],
    ];
    for (const [name, exact, nist] of figures) {
      assert.deepEqual([first('exact', name), first('nist', name)], [exact, nist], name);
    }
    for (const { name, parameters } of report.tests) {
      if (!Array.isArray(parameters.pi)) continue;
      const sum = parameters.pi.reduce((total: number, one: number) => total + one, 0);
      assert.ok(Math.abs(sum - 1) < 1e-12, name);
    }
  });

  it('survives JSON unchanged: no typed arrays, no NaN, no undefined', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(report)), report);
  });

  it('contains only the reason for a test that does not apply', () => {
    const short = toAssessReport(runSuite(bits.subarray(0, 1000)));
    assert.deepEqual(
      short.tests.find(({ name }) => name === 'linear_complexity'),
      {
        name: 'linear_complexity',
        applicable: false,
        reason: 'needs at least 1,000,000 bits, got 1,000',
        parameters: {},
        labels: [],
        p_values: [],
        corrected_p: null,
        statistics: {},
        passed: null,
      },
    );
  });
});

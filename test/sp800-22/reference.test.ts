/** Every p-value and statistic of the plain suite and the kernels on the sequences of SP 800-22 Appendix B, 10^6 bits each. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  type ApplicableOutcome,
  aperiodicTemplates,
  NIST_PARAMETERS,
  runPackedSuite,
  runSuite,
  type Statistics,
  TEST_NAMES,
  type TestName,
  type TestOutcome,
} from '#sp800-22';
import { assertReportsAgree } from './differential.ts';
import { assertPValues, assertStatistics } from './figures.ts';
import { type ConstantName, expansion } from './sequences.ts';
import { packBits } from './spectra.ts';

interface Reference {
  n: number;
  templates: string;
  sequences: Record<
    ConstantName,
    {
      exact: Record<TestName, number[]>;
      nist: Partial<Record<TestName, number[]>>;
      statistics: Record<TestName, Statistics>;
    }
  >;
}

const reference: Reference = JSON.parse(
  readFileSync(new URL('../vectors/sp800-22/reference-1e6.json', import.meta.url), 'utf8'),
);

const WITHOUT_DFT = TEST_NAMES.filter((name) => name !== 'dft');

const P_VALUE_BOUND = 1e-11;

/** Bound for the program's statistics; its tables for the excursions test have ten digits. */
const STATISTICS_BOUND = 1e-7;

/** Tests whose χ² depends on the class probabilities; the reference has the program's. */
const TESTS_WITH_CONSTANTS = new Set<TestName>([
  'longest_run',
  'overlapping_template',
  'linear_complexity',
]);

test('generates the 148 aperiodic templates of nine bits in the order of the NIST program', () => {
  assert.equal(aperiodicTemplates(9).join(' '), reference.templates);
});

for (const name of ['pi', 'e', 'sqrt2', 'sqrt3'] as const) {
  const { exact, nist, statistics } = reference.sequences[name];
  const bits = expansion(name, reference.n);
  const bytes = packBits(bits);

  test(`agrees with all reference p-values of ${name} with exact constants (Appendix B)`, () => {
    const plain = runSuite(bits, { parameters: NIST_PARAMETERS });
    const outcomes = applicable(plain.tests);
    for (const outcome of outcomes) {
      assertPValues(outcome.pValues, exact[outcome.name], outcome.name, P_VALUE_BOUND);
      assertStatistics(
        outcome.statistics,
        withoutChi2(outcome.name, statistics),
        outcome.name,
        STATISTICS_BOUND,
      );
    }
    const packed = { bits: reference.n, parameters: NIST_PARAMETERS };
    assertReportsAgree(runPackedSuite(bytes, packed), plain, name);
  });

  // Here the kernels run the spectral test; test/campaigns/kernels.test.ts runs it with the plain suite.
  test(`agrees with all p-values of ${name} with the constants of the NIST program`, () => {
    const options = { constants: 'nist', parameters: NIST_PARAMETERS } as const;
    const fast = runPackedSuite(bytes, { bits: reference.n, ...options });
    const plain = runSuite(bits, { ...options, only: WITHOUT_DFT });
    const tests = fast.tests.map((outcome) =>
      outcome.name === 'dft' ? outcome : plain.tests.find((other) => other.name === outcome.name),
    );
    for (const outcome of applicable(tests)) {
      const expected = nist[outcome.name] ?? exact[outcome.name];
      assertPValues(outcome.pValues, expected, outcome.name, P_VALUE_BOUND);
      assertStatistics(
        outcome.statistics,
        statistics[outcome.name],
        outcome.name,
        STATISTICS_BOUND,
      );
    }
    const packed = { bits: reference.n, ...options, only: WITHOUT_DFT };
    assertReportsAgree(runPackedSuite(bytes, packed), plain, name);
  });
}

function applicable(tests: readonly (TestOutcome | undefined)[]): ApplicableOutcome[] {
  const outcomes = tests.filter((outcome) => outcome?.applicable === true);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.name),
    [...TEST_NAMES],
  );
  return outcomes;
}

function withoutChi2(name: TestName, statistics: Record<TestName, Statistics>): Statistics {
  if (!TESTS_WITH_CONSTANTS.has(name)) return statistics[name];
  const { chi2: _, ...rest } = statistics[name];
  return rest;
}

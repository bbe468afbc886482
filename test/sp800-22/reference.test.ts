/** The sequences of SP 800-22 Appendix B, 10^6 bits each: every p-value and every statistic, by the plain suite and the kernels. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  type ApplicableOutcome,
  aperiodicTemplates,
  type Constants,
  runPackedSuite,
  runSuite,
  type Statistics,
  type SuiteReport,
  TEST_NAMES,
  type TestName,
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

const P_VALUE_BOUND = 1e-11;

/** The statistics are the program's, whose tables for the excursions test have ten digits. */
const STATISTICS_BOUND = 1e-7;

/** Statistics that depend on the class probabilities; the reference holds the program's. */
const CHI2_OF_NIST_CONSTANTS = new Set([
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

  test(`agrees with all 188 reference p-values of ${name} with exact constants (Appendix B)`, () => {
    const outcomes = applicable(runAgreed(name, bits, bytes, 'exact'));
    assert.equal(outcomes.flatMap(({ pValues }) => pValues).length, 188);
    for (const outcome of outcomes) {
      assertPValues(outcome.pValues, exact[outcome.name], outcome.name, P_VALUE_BOUND);
      assertStatistics(
        outcome.statistics,
        withoutChi2(outcome.name, statistics),
        outcome.name,
        STATISTICS_BOUND,
      );
    }
  });

  test(`agrees with all 188 p-values of ${name} with the constants of the NIST program`, () => {
    for (const outcome of applicable(runAgreed(name, bits, bytes, 'nist'))) {
      const expected = nist[outcome.name] ?? exact[outcome.name];
      assertPValues(outcome.pValues, expected, outcome.name, P_VALUE_BOUND);
      assertStatistics(
        outcome.statistics,
        statistics[outcome.name],
        outcome.name,
        STATISTICS_BOUND,
      );
    }
  });
}

/** The report of the plain suite, which the kernels' is compared with. */
function runAgreed(
  name: string,
  bits: Uint8Array,
  bytes: Uint8Array,
  constants: Constants,
): SuiteReport {
  const plain = runSuite(bits, { constants });
  assertReportsAgree(runPackedSuite(bytes, { bits: bits.length, constants }), plain, name);
  return plain;
}

function applicable({ tests }: SuiteReport): ApplicableOutcome[] {
  const outcomes = tests.filter((outcome) => outcome.applicable);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.name),
    [...TEST_NAMES],
  );
  return outcomes;
}

function withoutChi2(name: TestName, statistics: Record<TestName, Statistics>): Statistics {
  if (!CHI2_OF_NIST_CONSTANTS.has(name)) return statistics[name];
  const { chi2: _, ...rest } = statistics[name];
  return rest;
}

/** The worked examples of SP 800-22 Rev. 1a §2, with the errors of the printed text. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as sts from '#sp800-22';
import { overlappingTemplateProbabilities } from '../../packages/lab/studies/sts-constants.ts';
import {
  BerlekampMassey,
  deviation,
  expectedComplexity,
} from '../../packages/sp800-22/src/tests/linear-complexity.ts';
import { assertPValues, assertStatistics } from './figures.ts';
import { expansion } from './sequences.ts';

interface Example {
  section: string;
  test: string;
  parameters?: object;
  bits?: string;
  first_bits_of_e?: number;
  /** Indices of the example's p-values among those of the test; all if absent. */
  p_index?: number[];
  p?: number[];
  printed?: number[];
  /** Indices of printed p-values that do not follow from the text's own bits. */
  printed_wrong?: number[];
  statistics?: sts.Statistics;
  not_reproducible?: string;
  notes?: string;
}

const examples: Example[] = JSON.parse(
  readFileSync(new URL('../vectors/sp800-22/worked-examples.json', import.meta.url), 'utf8'),
);

type Run = (bits: Uint8Array, parameters: object) => sts.TestResult;

const RUN: Readonly<Record<string, Run>> = {
  frequency: sts.frequency,
  block_frequency: sts.blockFrequency,
  cumulative_sums: sts.cumulativeSums,
  runs: sts.runs,
  longest_run: sts.longestRun,
  rank: sts.rank,
  dft: sts.dft,
  non_overlapping_template: sts.nonOverlappingTemplate,
  overlapping_template: sts.overlappingTemplate,
  universal: sts.universal,
  approximate_entropy: sts.approximateEntropy,
  random_excursions: sts.randomExcursions,
  random_excursions_variant: sts.randomExcursionsVariant,
  serial: sts.serial,
  linear_complexity: sts.linearComplexity,
};

const BOUND = 1e-11;

/** Bound for printed figures: the text prints six or seven digits. */
const PRINTED_BOUND = 1e-6;

const e = expansion('e', 1_000_000);
const parse = (text: string): Uint8Array => Uint8Array.from(text, Number);

for (const example of examples.filter(({ test: name }) => RUN[name] !== undefined)) {
  const { section, p_index, p = [], printed = [], printed_wrong = [] } = example;

  test(`reproduces the example of §${section} (${example.test})`, () => {
    const bits = example.bits ? parse(example.bits) : e.subarray(0, example.first_bits_of_e);
    const result = RUN[example.test](bits, example.parameters ?? {});
    const pValues = p_index ? p_index.map((i) => result.pValues[i]) : result.pValues;
    assertPValues(pValues, p, section, BOUND);
    assertStatistics(result.statistics, example.statistics ?? {}, section, BOUND);
    printed.forEach((value, i) => {
      const agrees = Math.abs(pValues[i] - value) <= PRINTED_BOUND;
      assert.equal(agrees, !printed_wrong.includes(i), `printed p-value ${value}`);
    });
  });
}

test('reproduces the one-block example of §2.10.4 (linear complexity)', () => {
  const example = examples.find(({ section }) => section === '2.10.4');
  assert.ok(example?.bits && example.statistics);
  const M = example.bits.length;
  const mu = expectedComplexity(M);
  const L = new BerlekampMassey(M).complexity(parse(example.bits), 0);
  const statistics = { L, mu, T: deviation(L, M, mu) };
  assertStatistics(statistics, example.statistics, '2.10.4', BOUND);
});

test('documents the only example that is not reproducible', () => {
  assert.equal(examples.length, 28);
  const covered = examples.filter((row) => RUN[row.test] || row.section === '2.10.4');
  assert.equal(covered.length, 27);
  const open = examples.filter((row) => row.not_reproducible).map(({ section }) => section);
  assert.deepEqual(open, ['2.7.8 / 2.9.8']);
});

test('documents the eight printed p-values that are wrong', () => {
  const wrong = examples.flatMap((row) => (row.printed_wrong ?? []).map(() => row.section));
  const expected = ['2.6.4', '2.6.8', '2.8.4', '2.14.4', ...new Array(4).fill('2.14.8')];
  assert.deepEqual(wrong, expected);
});

test('returns other p-values with exact constants than the text with approximate ones', () => {
  const pOf = (section: string, parameters: object): number => {
    const example = examples.find((row) => row.section === section);
    assert.ok(example);
    const bits = example.bits ? parse(example.bits) : e.subarray(0, example.first_bits_of_e);
    return RUN[example.test](bits, parameters).pValues[0];
  };
  // §2.8.4, with counted probabilities for M = 10 and m = 2.
  const pi = overlappingTemplateProbabilities(2, 10, 5);
  const expected: readonly [string, object, number][] = [
    ['2.8.4', { m: 2, M: 10, pi }, 0.642474],
    ['2.8.8', {}, 0.159037253734],
    ['2.10.8', { M: 1000 }, 0.844738091051],
    ['2.13.4', {}, 0.411584718],
  ];
  for (const [section, parameters, p] of expected) {
    assert.ok(Math.abs(pOf(section, parameters) - p) < 5e-7, section);
  }
});

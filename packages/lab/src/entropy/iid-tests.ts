/** The tests of SP 800-90B §5 as tables, and in the JSON. */

import { grouped } from '../../../sp800-22/src/index.ts';
import {
  type IidTests,
  PERMUTATIONS,
  type PermutationCounts,
  STATISTIC_NAMES,
  type StatisticName,
} from '../../../sp800-90b/src/index.ts';
import { snakeCase } from '../report/snake-case.ts';
import { alignColumns, type Paragraph, resultText } from '../report/text.ts';
import type { EntropyPageParts } from './model.ts';
import { IID_TESTS } from './rules.ts';

/** Names and sections of SP 800-90B. */
const TITLES: Readonly<Record<StatisticName, string>> = {
  excursion: '5.1.1  excursion',
  directional_runs: '5.1.2  number of directional runs',
  directional_run_length: '5.1.3  length of directional runs',
  increases_decreases: '5.1.4  increases and decreases',
  median_runs: '5.1.5  number of runs based on the median',
  median_run_length: '5.1.6  length of runs based on the median',
  average_collision: '5.1.7  average collision',
  maximum_collision: '5.1.8  maximum collision',
  periodicity_1: '5.1.9  periodicity, lag 1',
  periodicity_2: '5.1.9  periodicity, lag 2',
  periodicity_8: '5.1.9  periodicity, lag 8',
  periodicity_16: '5.1.9  periodicity, lag 16',
  periodicity_32: '5.1.9  periodicity, lag 32',
  covariance_1: '5.1.10 covariance, lag 1',
  covariance_2: '5.1.10 covariance, lag 2',
  covariance_8: '5.1.10 covariance, lag 8',
  covariance_16: '5.1.10 covariance, lag 16',
  covariance_32: '5.1.10 covariance, lag 32',
  compression: '5.1.11 compression',
};

/** Returns the paragraphs of the text, of which the first has `title` above it, if there is one. */
export function testsText(tests: IidTests, title: readonly string[] = []): Paragraph[] {
  const { permutations, seed } = tests.permutation;
  return [
    [...title, ...alignColumns(testRows(tests))],
    [
      ...alignColumns(permutationRows(tests)),
      `${grouped(permutations)} permutations made, of at most ${grouped(PERMUTATIONS)}, seed ${seed}`,
    ],
  ];
}

export function testTables(tests: IidTests, of: string): EntropyPageParts['tables'] {
  return [
    { title: `Chi-square and repetition tests${of}`, rows: testRows(tests) },
    { title: `Permutation tests${of}`, rows: permutationRows(tests) },
  ];
}

/** Returns a heading, and a row for each test of §5.2. */
function testRows({ independence, goodnessOfFit, longestRepeat }: IidTests): string[][] {
  const chiSquare = (title: string, result: IidTests['independence']): string[] => [
    title,
    result.statistic.toFixed(6),
    `${result.degreesOfFreedom}`,
    result.pValue.toPrecision(6),
    canFail(result) ? resultText(result.passed) : 'passed, no degrees of freedom',
  ];
  return [
    ['test', 'statistic', 'degrees of freedom', 'p-value', 'result'],
    chiSquare('5.2    chi-square, independence', independence),
    chiSquare('5.2    chi-square, goodness of fit', goodnessOfFit),
    [
      '5.2.5  longest repeated substring',
      `${longestRepeat.length}`,
      '-',
      longestRepeat.probability.toPrecision(6),
      resultText(longestRepeat.passed),
    ],
  ];
}

/** Returns a heading, and a row for each statistic of §5.1. */
function permutationRows({ permutation }: IidTests): string[][] {
  return [
    ['permutation statistic', 'of the samples', 'C0: greater', 'C1: equal', 'C2: less', 'result'],
    ...STATISTIC_NAMES.map((name) => countCells(TITLES[name], permutation.statistics[name])),
  ];
}

function countCells(title: string, counts: PermutationCounts): string[] {
  const { statistic, greater, equal, less, passed } = counts;
  const value = Number.isInteger(statistic) ? `${statistic}` : statistic.toFixed(6);
  return [title, value, `${greater}`, `${equal}`, `${less}`, resultText(passed)];
}

/** False for a chi-square test that no degree of freedom is left for: its p-value is 1 for any statistic. */
function canFail({ degreesOfFreedom }: IidTests['independence']): boolean {
  return degreesOfFreedom > 0;
}

/** Returns the verdict on all data sets; one that passed says how many tests could not fail. */
export function iidTestsText(tests: readonly IidTests[]): string {
  if (!tests.every(({ passed }) => passed)) return resultText(false);
  const chiSquares = tests.flatMap(({ independence, goodnessOfFit }) => [
    independence,
    goodnessOfFit,
  ]);
  const idle = chiSquares.filter((result) => !canFail(result)).length;
  const all = tests.length * IID_TESTS;
  return idle === 0
    ? resultText(true)
    : `${resultText(true)}, ${idle} of ${all} without degrees of freedom`;
}

export function permutationFacts({ permutation }: IidTests, of: string): [string, string][] {
  return [
    [
      `permutations${of} made, of at most ${grouped(PERMUTATIONS)}`,
      grouped(permutation.permutations),
    ],
    ['seed', permutation.seed],
  ];
}

export const DEGREES_SIGN =
  '“-” means no figure: the longest repeated substring test has no degrees of freedom. Its statistic is a length.';

export function testsJson(tests: IidTests): Record<string, unknown> {
  const { permutation } = tests;
  return {
    passed: tests.passed,
    mean: tests.mean,
    median: tests.median,
    chi_square_independence: chiSquareJson(tests.independence),
    chi_square_goodness_of_fit: chiSquareJson(tests.goodnessOfFit),
    longest_repeated_substring: snakeCase(tests.longestRepeat),
    permutation: {
      generator: 'xoshiro128**',
      seed: permutation.seed,
      permutations: permutation.permutations,
      permutations_limit: PERMUTATIONS,
      passed: permutation.passed,
      statistics: permutation.statistics,
    },
  };
}

function chiSquareJson(result: IidTests['independence']): Record<string, unknown> {
  return { ...snakeCase(result), can_fail: canFail(result) };
}

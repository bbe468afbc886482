/** The output of `phm assess-entropy --iid`: tables for people, JSON for machines. */

import { grouped } from '../../../sp800-22/src/index.ts';
import {
  ASSESSMENT_SAMPLES,
  type IidAssessment,
  type IidRestartAssessment,
  type IidTests,
  PERMUTATIONS,
  type PermutationCounts,
  STATISTIC_NAMES,
  type StatisticName,
} from '../../../sp800-90b/src/index.ts';
import { alignColumns } from '../report/text.ts';
import { awardText, bitsText, estimateText, figure, snakeCase, valuesText } from './report.ts';
import { IID_TESTS, iidRule } from './rules.ts';

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

export const IID_CAVEAT = `The tests look for signs that the samples are not independent and identically distributed (IID). Passing proves
neither that they are nor that there is entropy: the output of a deterministic generator passes. The IID track also
needs an argument from the source (SP 800-90B section 3.1.2).
`;

/** §5.2.1.1: the least expected count of a bin of the chi-square test of independence. */
const LEAST_EXPECTED = 5;

/**
 * Returns the warning that there are too few samples for the chi-square test of independence, or `null`. Bins then hold
 * several pairs, and the degrees of freedom of §5.2.1 are too few by up to the number of values: the test fails sound
 * samples, or with none left passes all.
 */
export function fewPairsWarning(samples: Uint8Array): string | null {
  const values = countValues(samples);
  const needed = 2 * LEAST_EXPECTED * values ** 2;
  if (values <= 2 || samples.length >= needed) return null;
  const expected = samples.length / 2 / values ** 2;
  return `warning: ${grouped(samples.length)} samples are too few for the chi-square test of independence, whose verdict says little (SP 800-90B section 5.2.1). It expects each pair of values ${expected.toPrecision(2)} times on average, and should expect it ${LEAST_EXPECTED} times. ${grouped(values)} values need ${grouped(needed)} samples
`;
}

/** A set would take 14 times as long: seconds for the longest input (measured). */
function countValues(samples: Uint8Array): number {
  const seen = new Uint8Array(256);
  for (let i = 0; i < samples.length; i++) seen[samples[i]] = 1;
  return seen.reduce((values, flag) => values + flag, 0);
}

/** `conditioned`: the samples are conditioned output, of which h' is wanted. */
export interface IidForm {
  readonly conditioned: boolean;
}

export function formatIidText(assessment: IidAssessment, { conditioned }: IidForm): string {
  const { samples, bitsPerSymbol, alphabetSize, hOriginal, hBitstring, tested, tests } = assessment;
  const lines = [
    `${grouped(samples)} samples of ${bitsText(bitsPerSymbol)}, ${valuesText(alphabetSize)}`,
    '',
    ...(tested === 'samples' ? [] : [`${bitStringText(assessment)}:`]),
    ...testLines(tests),
    '',
    ...iidRule([tests]),
    '',
    ...alignColumns(mostCommonRows(assessment)),
    '',
    ...alignColumns(
      conditioned
        ? [
            ['IID tests', iidTestsText([tests])],
            ["h'", hPrimeText(assessment)],
          ]
        : [
            ['H_original', `${figure(hOriginal)} bits per symbol`],
            ['H_bitstring', hBitstring === null ? '-' : `${figure(hBitstring)} bits per bit`],
            ['IID tests', iidTestsText([tests])],
            ['Estimate', iidEstimateText(assessment)],
          ],
    ),
    '',
  ];
  return `${lines.join('\n')}\n${IID_CAVEAT}`;
}

/** Says that the bits of conditioned output were tested. */
export function bitStringText({ bitstringBits }: IidAssessment): string {
  return `Tests of the bit string, ${grouped(bitstringBits ?? 0)} bits (SP 800-90B §3.1.5.2)`;
}

/** Returns h' of conditioned output: bits of entropy per bit, null if a test failed. */
export function hPrimeOf({ hBitstring, tests }: IidAssessment): number | null {
  return tests.passed ? hBitstring : null;
}

function hPrimeText(assessment: IidAssessment): string {
  const hPrime = hPrimeOf(assessment);
  if (hPrime === null) return NOTHING_IID;
  return `${figure(hPrime)} bits per bit, for assess-conditioning --h-prime`;
}

const NOTHING_IID = 'nothing: use the non-IID track, without --iid';

function iidEstimateText({ minEntropyPerSymbol, bitsPerSymbol }: IidAssessment): string {
  if (minEntropyPerSymbol === null) return NOTHING_IID;
  return estimateText(minEntropyPerSymbol, bitsPerSymbol);
}

export function formatIidRestartText(assessment: IidRestartAssessment): string {
  const { sanityCheck, hRows, hColumns, initialMinEntropy, rowTests, columnTests } = assessment;
  const { minEntropyPerSymbol } = assessment;
  const { maxCount, cutoff } = sanityCheck;
  const lines = [
    'Rows: restart by restart',
    ...testLines(rowTests),
    '',
    'Columns: the same sample of every restart',
    ...testLines(columnTests),
    '',
    ...iidRule([rowTests, columnTests]),
    '',
    ...alignColumns(restartMostCommonRows(assessment)),
    '',
    ...alignColumns([
      ['H_I', figure(initialMinEntropy), 'as given'],
      ['H_r', figure(hRows), 'most common value in the rows'],
      ['H_c', figure(hColumns), 'most common value in the columns'],
      ['IID tests', iidTestsText([rowTests, columnTests]), 'of rows and columns'],
      [
        'Sanity check',
        verdict(sanityCheck.passed),
        `most common value of a row or column: ${maxCount} times, at most ${cutoff} pass`,
      ],
      ['Validation', verdict(assessment.validationPassed), 'min(H_r, H_c) >= H_I / 2'],
      minEntropyPerSymbol === null
        ? ['Assessed', 'nothing', 'use the non-IID track, without --iid']
        : ['Assessed', figure(minEntropyPerSymbol), awardText(assessment)],
    ]),
    '',
  ];
  return `${lines.join('\n')}\n${IID_CAVEAT}`;
}

function testLines(tests: IidTests): string[] {
  const { permutations, seed } = tests.permutation;
  return [
    ...alignColumns(testRows(tests)),
    '',
    ...alignColumns(permutationRows(tests)),
    `${grouped(permutations)} permutations made, of at most ${grouped(PERMUTATIONS)}, seed ${seed}`,
  ];
}

/** Returns a heading, and a row for each estimate that H_original and H_bitstring rest on. */
export function mostCommonRows(assessment: IidAssessment): string[][] {
  const { samples, literal, bitstring, bitstringBits } = assessment;
  return [
    MOST_COMMON_HEADING,
    mostCommonRow('samples', literal, samples, 'symbol'),
    ...(bitstring && bitstringBits !== null
      ? [mostCommonRow('bit string', bitstring, bitstringBits, 'bit')]
      : []),
  ];
}

/** Returns the same for H_r and H_c. */
export function restartMostCommonRows({ rows, columns }: IidRestartAssessment): string[][] {
  return [
    MOST_COMMON_HEADING,
    mostCommonRow('rows', rows, ASSESSMENT_SAMPLES, 'symbol'),
    mostCommonRow('columns', columns, ASSESSMENT_SAMPLES, 'symbol'),
  ];
}

const MOST_COMMON_HEADING = [
  'most common value, 6.3.1',
  'count',
  'of',
  'proportion',
  '99 % upper bound',
  'estimate',
];

function mostCommonRow(
  name: string,
  estimate: IidAssessment['literal'],
  of: number,
  unit: string,
): string[] {
  if (!estimate.applicable) return [name, '-', grouped(of), '-', '-', estimate.reason];
  const { modeCount, pHat, pUpper, minEntropy } = estimate;
  const counts = [grouped(modeCount), grouped(of)];
  const shares = [pHat, pUpper].map((share) => share.toPrecision(7));
  return [name, ...counts, ...shares, `${figure(minEntropy)} bits per ${unit}`];
}

/** Returns a heading, and a row for each test of §5.2. */
export function testRows({ independence, goodnessOfFit, longestRepeat }: IidTests): string[][] {
  const chiSquare = (title: string, result: IidTests['independence']): string[] => [
    title,
    result.statistic.toFixed(6),
    `${result.degreesOfFreedom}`,
    result.pValue.toPrecision(6),
    canFail(result) ? verdict(result.passed) : 'passed, no degrees of freedom',
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
      verdict(longestRepeat.passed),
    ],
  ];
}

/** Returns a heading, and a row for each statistic of §5.1. */
export function permutationRows({ permutation }: IidTests): string[][] {
  return [
    ['permutation statistic', 'of the samples', 'C0: greater', 'C1: equal', 'C2: less', 'result'],
    ...STATISTIC_NAMES.map((name) => countCells(TITLES[name], permutation.statistics[name])),
  ];
}

function countCells(title: string, counts: PermutationCounts): string[] {
  const { statistic, greater, equal, less, passed } = counts;
  const value = Number.isInteger(statistic) ? `${statistic}` : statistic.toFixed(6);
  return [title, value, `${greater}`, `${equal}`, `${less}`, verdict(passed)];
}

/** False for a chi-square test that no degree of freedom is left for: its p-value is 1 for any statistic. */
function canFail({ degreesOfFreedom }: IidTests['independence']): boolean {
  return degreesOfFreedom > 0;
}

/** Returns the verdict on all data sets; one that passed says how many tests could not fail. */
export function iidTestsText(tests: readonly IidTests[]): string {
  if (!tests.every(({ passed }) => passed)) return verdict(false);
  const chiSquares = tests.flatMap(({ independence, goodnessOfFit }) => [
    independence,
    goodnessOfFit,
  ]);
  const idle = chiSquares.filter((result) => !canFail(result)).length;
  const all = tests.length * IID_TESTS;
  return idle === 0
    ? verdict(true)
    : `${verdict(true)}, ${idle} of ${all} without degrees of freedom`;
}

function verdict(passed: boolean): string {
  return passed ? 'passed' : 'FAILED';
}

/** Returns the assessment with the field names of the JSON output. */
export function iidJson(
  assessment: IidAssessment,
  { conditioned }: IidForm,
): Record<string, unknown> {
  const { samples, bitsPerSymbol, minEntropyPerSymbol } = assessment;
  return {
    track: 'iid',
    samples,
    enough_samples: samples >= ASSESSMENT_SAMPLES,
    bits_per_symbol: bitsPerSymbol,
    alphabet_size: assessment.alphabetSize,
    tested: assessment.tested === 'samples' ? 'samples' : 'bitstring',
    iid_tests: testsJson(assessment.tests),
    literal: snakeCase(assessment.literal),
    bitstring: assessment.bitstring && snakeCase(assessment.bitstring),
    bitstring_bits: assessment.bitstringBits,
    ...(conditioned && { h_prime: hPrimeOf(assessment) }),
    h_original: assessment.hOriginal,
    h_bitstring: assessment.hBitstring,
    min_entropy_per_symbol: minEntropyPerSymbol,
    min_entropy_per_bit: minEntropyPerSymbol && minEntropyPerSymbol / bitsPerSymbol,
  };
}

export function iidRestartJson(assessment: IidRestartAssessment): Record<string, unknown> {
  const { sanityCheck, rowTests, columnTests } = assessment;
  return {
    track: 'iid',
    bits_per_symbol: assessment.bitsPerSymbol,
    alphabet_size: assessment.alphabetSize,
    h_initial: assessment.initialMinEntropy,
    sanity_check: snakeCase(sanityCheck),
    row_tests: testsJson(rowTests),
    column_tests: testsJson(columnTests),
    rows: snakeCase(assessment.rows),
    columns: snakeCase(assessment.columns),
    h_rows: assessment.hRows,
    h_columns: assessment.hColumns,
    validation_passed: assessment.validationPassed,
    min_entropy_per_symbol: assessment.minEntropyPerSymbol,
  };
}

function testsJson(tests: IidTests): Record<string, unknown> {
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

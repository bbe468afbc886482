/** The report on the IID track: of samples, of conditioned output, and of restarts. */

import { grouped } from '../../../sp800-22/src/index.ts';
import {
  ASSESSMENT_SAMPLES,
  type IidAssessment,
  type IidRestartAssessment,
} from '../../../sp800-90b/src/index.ts';
import { alignColumns } from '../report/text.ts';
import { bitstringPart } from './coverage.ts';
import {
  bitsText,
  estimates,
  estimateText,
  figure,
  H_PRIME_REMARK,
  hPrimeText,
  OTHER_TRACK_REMARK,
  perBitName,
  sizes,
  snakeCase,
  valuesText,
} from './figures.ts';
import {
  DEGREES_SIGN,
  iidTestsText,
  permutationFacts,
  testLines,
  testsJson,
  testTables,
  verdict,
} from './iid-tests.ts';
import type { EntropyPageParts } from './page.ts';
import { awardParts, awardText, checksTable } from './restarts.ts';
import { iidRule, restartRule } from './rules.ts';

const IID_CAVEAT = `The tests look for signs that the samples are not independent and identically distributed (IID). Passing proves
neither that they are nor that there is entropy: the output of a deterministic generator passes. The IID track also
needs an argument from the source (SP 800-90B section 3.1.2).
`;

/** `conditioned`: the samples are conditioned output, of which h' is wanted. */
interface IidForm {
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
            ["h'", hPrimeCell(assessment)],
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
function bitStringText({ bitstringBits }: IidAssessment): string {
  return `Tests of the bit string, ${grouped(bitstringBits ?? 0)} bits (SP 800-90B §3.1.5.2)`;
}

/** Returns h' of conditioned output: bits of entropy per bit, null if a test failed. */
function hPrimeOf({ hBitstring, tests }: IidAssessment): number | null {
  return tests.passed ? hBitstring : null;
}

function hPrimeCell(assessment: IidAssessment): string {
  const hPrime = hPrimeOf(assessment);
  if (hPrime === null) return NOTHING_IID;
  return `${figure(hPrime)} bits per bit, for assess-conditioning --h-prime`;
}

const NOTHING_IID = 'nothing: use the non-IID track, without --iid';

function iidEstimateText({ minEntropyPerSymbol, bitsPerSymbol }: IidAssessment): string {
  if (minEntropyPerSymbol === null) return NOTHING_IID;
  return estimateText(minEntropyPerSymbol, bitsPerSymbol);
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

export function iidPage(assessment: IidAssessment, { conditioned }: IidForm): EntropyPageParts {
  const { hBitstring, bitsPerSymbol, minEntropyPerSymbol, tested, tests } = assessment;
  const perBit: [string, string][] =
    conditioned || minEntropyPerSymbol === null
      ? []
      : [[perBitName(hBitstring), figure(minEntropyPerSymbol / bitsPerSymbol)]];
  return {
    title: conditioned ? 'Conditioned output, IID track' : 'IID track',
    passed: tests.passed,
    verdict: iidVerdict(assessment, conditioned),
    initial: conditioned || !tests.passed ? null : assessment,
    remarks: [
      ...(tested === 'samples' ? [] : [`${bitStringText(assessment)}.`]),
      ...(tests.passed ? (conditioned ? [H_PRIME_REMARK] : []) : [OTHER_TRACK_REMARK]),
    ],
    facts: [
      ...sizes(assessment),
      ...estimates(assessment),
      ...perBit,
      ...permutationFacts(tests, ''),
    ],
    tables: [
      { title: 'Most common value estimate', rows: mostCommonRows(assessment) },
      ...testTables(tests, tested === 'samples' ? '' : ', of the bit string'),
    ],
    rule: iidRule([tests]),
    signs: [DEGREES_SIGN],
    bitsPerSymbol,
    bitstring: bitstringPart(assessment),
    caveat: IID_CAVEAT,
  };
}

function iidVerdict(assessment: IidAssessment, conditioned: boolean): string {
  if (!assessment.tests.passed) return 'IID tests FAILED: no estimate on this track';
  const hPrime = conditioned ? hPrimeOf(assessment) : null;
  const passed = `IID tests ${iidTestsText([assessment.tests])}`;
  return hPrime === null ? passed : `${passed}. ${hPrimeText(hPrime)}`;
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

export function iidRestartPage(assessment: IidRestartAssessment): EntropyPageParts {
  const { rowTests, columnTests, sanityCheck } = assessment;
  const award = awardParts(assessment, [rowTests, columnTests]);
  return {
    ...award,
    title: 'Restart tests, IID track',
    facts: [
      ...award.facts,
      ...permutationFacts(rowTests, ' of the rows'),
      ...permutationFacts(columnTests, ' of the columns').slice(0, 1),
    ],
    tables: [
      checksTable(assessment),
      { title: 'Most common value estimate', rows: restartMostCommonRows(assessment) },
      ...testTables(rowTests, ' of the rows'),
      ...testTables(columnTests, ' of the columns'),
    ],
    rule: [...restartRule(sanityCheck), ...iidRule([rowTests, columnTests])],
    signs: [DEGREES_SIGN],
    caveat: IID_CAVEAT,
  };
}

/** Returns a heading, and a row for each estimate that H_original and H_bitstring rest on. */
function mostCommonRows(assessment: IidAssessment): string[][] {
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
function restartMostCommonRows({ rows, columns }: IidRestartAssessment): string[][] {
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

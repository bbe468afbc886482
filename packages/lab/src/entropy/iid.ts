/** The report on the IID track: of samples, of conditioned output, and of restarts. */

import { grouped } from '../../../sp800-22/src/index.ts';
import {
  ASSESSMENT_SAMPLES,
  type IidAssessment,
  type IidRestartAssessment,
} from '../../../sp800-90b/src/index.ts';
import { snakeCase } from '../report/snake-case.ts';
import { alignColumns, type Paragraph } from '../report/text.ts';
import { initialClaim, restartClaim } from './claim.ts';
import { bitstringPart } from './coverage.ts';
import {
  estimateFigures,
  estimateRows,
  estimates,
  estimateText,
  figure,
  H_PRIME_REMARK,
  hPrimeFigure,
  hPrimeText,
  OTHER_TRACK_REMARK,
  perBitName,
  sampleFigures,
  samplesText,
  sizes,
} from './figures.ts';
import {
  DEGREES_SIGN,
  iidTestsText,
  permutationFacts,
  testsJson,
  testsText,
  testTables,
} from './iid-tests.ts';
import type { EntropyPageParts, EntropyReport } from './model.ts';
import { awardJson, awardParts, awardRows, checksTable } from './restarts.ts';
import { iidRule, restartRule } from './rules.ts';

const CAVEAT = [
  'The tests look for signs that the samples are not independent and identically distributed (IID). Passing proves',
  'neither that they are nor that there is entropy: the output of a deterministic generator passes. The IID track also',
  'needs an argument from the source (SP 800-90B section 3.1.2).',
];

/** Returns the report on consecutive samples, or on conditioned output; without `hSubmitter`, no claim was given. */
export function iidReport(assessment: IidAssessment, hSubmitter?: number): EntropyReport {
  return {
    text: iidText(assessment),
    json: iidJson(assessment),
    claim: isConditioned(assessment)
      ? null
      : initialClaim(hSubmitter, assessment.minEntropyPerSymbol),
    page: iidPage(assessment),
  };
}

/** The bits of conditioned output are tested, of which h' is wanted. */
function isConditioned({ tested }: IidAssessment): boolean {
  return tested === 'bit string';
}

function iidText(assessment: IidAssessment): Paragraph[] {
  const { tests } = assessment;
  const conditioned = isConditioned(assessment);
  const results = ['IID tests', iidTestsText([tests])];
  return [
    [samplesText(assessment)],
    ...testsText(tests, conditioned ? [`${bitStringText(assessment)}:`] : []),
    iidRule([tests]),
    alignColumns(mostCommonRows(assessment)),
    alignColumns(
      conditioned
        ? [results, ["h'", hPrimeCell(assessment)]]
        : [...estimateRows(assessment), results, ['Estimate', iidEstimateText(assessment)]],
    ),
    CAVEAT,
  ];
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
  return hPrime === null ? NOTHING_IID : hPrimeFigure(hPrime);
}

const NOTHING_IID = 'nothing: use the non-IID track, without --iid';

function iidEstimateText({ minEntropyPerSymbol, bitsPerSymbol }: IidAssessment): string {
  if (minEntropyPerSymbol === null) return NOTHING_IID;
  return estimateText(minEntropyPerSymbol, bitsPerSymbol);
}

function iidJson(assessment: IidAssessment): object {
  return {
    track: 'iid',
    ...sampleFigures(assessment),
    alphabet_size: assessment.alphabetSize,
    tested: isConditioned(assessment) ? 'bitstring' : 'samples',
    iid_tests: testsJson(assessment.tests),
    literal: snakeCase(assessment.literal),
    bitstring: assessment.bitstring && snakeCase(assessment.bitstring),
    bitstring_bits: assessment.bitstringBits,
    ...(isConditioned(assessment) && { h_prime: hPrimeOf(assessment) }),
    ...estimateFigures(assessment),
  };
}

function iidPage(assessment: IidAssessment): EntropyPageParts {
  const { hBitstring, bitsPerSymbol, minEntropyPerSymbol, tests } = assessment;
  const conditioned = isConditioned(assessment);
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
      ...(conditioned ? [`${bitStringText(assessment)}.`] : []),
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
      ...testTables(tests, conditioned ? ', of the bit string' : ''),
    ],
    rule: iidRule([tests]),
    signs: [DEGREES_SIGN],
    bitsPerSymbol,
    bitstring: bitstringPart(assessment),
    caveat: CAVEAT,
  };
}

function iidVerdict(assessment: IidAssessment, conditioned: boolean): string {
  if (!assessment.tests.passed) return 'IID tests FAILED: no estimate on this track';
  const hPrime = conditioned ? hPrimeOf(assessment) : null;
  const passed = `IID tests ${iidTestsText([assessment.tests])}`;
  return hPrime === null ? passed : `${passed}. ${hPrimeText(hPrime)}`;
}

/** Returns the report on restarts; without `hSubmitter`, no claim was given. */
export function iidRestartReport(
  assessment: IidRestartAssessment,
  hSubmitter?: number,
): EntropyReport {
  return {
    text: iidRestartText(assessment),
    json: {
      track: 'iid',
      ...awardJson(assessment, {
        row_tests: testsJson(assessment.rowTests),
        column_tests: testsJson(assessment.columnTests),
        rows: snakeCase(assessment.rows),
        columns: snakeCase(assessment.columns),
      }),
    },
    claim: restartClaim(hSubmitter, assessment),
    page: iidRestartPage(assessment),
  };
}

function iidRestartText(assessment: IidRestartAssessment): Paragraph[] {
  const { rowTests, columnTests } = assessment;
  const tests = [rowTests, columnTests];
  const notes = ['most common value in the rows', 'most common value in the columns'] as const;
  return [
    ...testsText(rowTests, ['Rows: restart by restart']),
    ...testsText(columnTests, ['Columns: the same sample of every restart']),
    iidRule(tests),
    alignColumns(restartMostCommonRows(assessment)),
    alignColumns(awardRows(assessment, notes, tests)),
    CAVEAT,
  ];
}

function iidRestartPage(assessment: IidRestartAssessment): EntropyPageParts {
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
    caveat: CAVEAT,
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

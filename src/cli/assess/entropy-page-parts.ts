/** What the page of `phm assess-entropy --html` shows of each kind of assessment. */
import { grouped } from '#sp800-22/report';
import type {
  ConditionedAssessment,
  IidAssessment,
  IidRestartAssessment,
  IidTests,
  NonIidAssessment,
  RestartAssessment,
  RestartAward,
} from '#sp800-90b';
import { bitsText, CAVEAT, estimatorRows, figure, valuesText } from './entropy-report.ts';
import { hPrimeOf, IID_CAVEAT, type IidForm, permutationRows, testRows } from './iid-report.ts';

export interface EntropyPageParts {
  readonly title: string;
  /** Null if the assessment has no tests that could fail. */
  readonly passed: boolean | null;
  readonly verdict: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** The first row is the heading. */
  readonly tables: readonly { readonly title: string; readonly rows: readonly string[][] }[];
  readonly caveat: string;
}

export function nonIidPage(assessment: NonIidAssessment): EntropyPageParts {
  const { hOriginal, hBitstring, minEntropyPerSymbol, literal, bitstring } = assessment;
  const heading = ['estimator', 'per symbol', 'per bit of bit string'];
  return {
    title: 'Non-IID track',
    passed: null,
    verdict: `Assessed: ${figure(minEntropyPerSymbol)} bits per symbol`,
    facts: [
      ...sizes(assessment),
      ['H_original', figure(hOriginal)],
      ['H_bitstring', hBitstring === null ? '-' : figure(hBitstring)],
    ],
    tables: [{ title: 'Estimators', rows: [heading, ...estimatorRows([literal, bitstring])] }],
    caveat: CAVEAT,
  };
}

export function conditionedPage(assessment: ConditionedAssessment): EntropyPageParts {
  const { samples, bits, bitstring, hPrime } = assessment;
  return {
    title: 'Conditioned output',
    passed: null,
    verdict: `h': ${figure(hPrime)} bits of entropy per bit`,
    facts: [
      ['samples', grouped(samples)],
      ['assessed bits', grouped(bits)],
    ],
    tables: [
      { title: 'Estimators', rows: [['estimator', 'per bit'], ...estimatorRows([bitstring])] },
    ],
    caveat: CAVEAT,
  };
}

export function iidPage(assessment: IidAssessment, { conditioned }: IidForm): EntropyPageParts {
  const { hOriginal, hBitstring, minEntropyPerSymbol, tests } = assessment;
  const assessed =
    minEntropyPerSymbol === null
      ? 'nothing assessed'
      : `${figure(minEntropyPerSymbol)} bits per symbol`;
  const hPrime = hPrimeOf(assessment);
  const result = !conditioned || hPrime === null ? assessed : `h' ${figure(hPrime)}`;
  return {
    title: conditioned ? 'Conditioned output, IID track' : 'IID track',
    passed: tests.passed,
    verdict: `IID tests ${tests.passed ? 'passed' : 'FAILED'}: ${result}`,
    facts: [
      ...sizes(assessment),
      ['H_original', figure(hOriginal)],
      ['H_bitstring', hBitstring === null ? '-' : figure(hBitstring)],
      ...permutationFacts(tests),
    ],
    tables: testTables(tests, ''),
    caveat: IID_CAVEAT,
  };
}

export function restartPage(assessment: RestartAssessment): EntropyPageParts {
  const { rows, columns } = assessment;
  const heading = ['estimator', 'rows', 'columns'];
  return {
    ...awardParts(assessment),
    title: 'Restart tests, non-IID track',
    tables: [{ title: 'Estimators', rows: [heading, ...estimatorRows([rows, columns])] }],
    caveat: CAVEAT,
  };
}

export function iidRestartPage(assessment: IidRestartAssessment): EntropyPageParts {
  const { rowTests, columnTests } = assessment;
  const award = awardParts(assessment);
  return {
    ...award,
    title: 'Restart tests, IID track',
    facts: [...award.facts, ...permutationFacts(rowTests)],
    tables: [
      ...testTables(rowTests, ' of the rows'),
      ...testTables(columnTests, ' of the columns'),
    ],
    caveat: IID_CAVEAT,
  };
}

function awardParts(
  award: RestartAward | IidRestartAssessment,
): Pick<EntropyPageParts, 'passed' | 'verdict' | 'facts'> {
  const { sanityCheck, validationPassed, minEntropyPerSymbol } = award;
  return {
    passed: sanityCheck.passed && validationPassed && minEntropyPerSymbol !== null,
    verdict: awardVerdict(award),
    facts: [
      ['H_I', figure(award.initialMinEntropy)],
      ['H_r', figure(award.hRows)],
      ['H_c', figure(award.hColumns)],
      ['sanity check', `${sanityCheck.maxCount} of at most ${sanityCheck.cutoff}`],
      ['validation', validationPassed ? 'passed' : 'FAILED'],
    ],
  };
}

function awardVerdict({
  sanityCheck,
  validationPassed,
  minEntropyPerSymbol,
}: RestartAward | IidRestartAssessment): string {
  if (minEntropyPerSymbol === null) return 'IID tests FAILED: nothing assessed';
  return sanityCheck.passed && validationPassed
    ? `Assessed: ${figure(minEntropyPerSymbol)} bits per symbol`
    : 'Restart tests FAILED: no entropy awarded';
}

function sizes(assessment: {
  readonly samples: number;
  readonly bitsPerSymbol: number;
  readonly alphabetSize: number;
}): [string, string][] {
  return [
    ['samples', grouped(assessment.samples)],
    ['width', bitsText(assessment.bitsPerSymbol)],
    ['alphabet', valuesText(assessment.alphabetSize)],
  ];
}

function permutationFacts({ permutation }: IidTests): [string, string][] {
  return [
    ['permutations', grouped(permutation.permutations)],
    ['seed', permutation.seed],
  ];
}

function testTables(tests: IidTests, of: string): EntropyPageParts['tables'] {
  return [
    { title: `Chi-square and repetition tests${of}`, rows: testRows(tests) },
    { title: `Permutation tests${of}`, rows: permutationRows(tests) },
  ];
}

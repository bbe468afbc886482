/** What the page of `phm assess-entropy --html` shows of each kind of assessment. */
import { grouped } from '../../../sp800-22/src/index.ts';
import {
  type ConditionedAssessment,
  type IidAssessment,
  type IidRestartAssessment,
  type IidTests,
  type NonIidAssessment,
  type Outcomes,
  PERMUTATIONS,
  type RestartAssessment,
  type RestartAward,
} from '../../../sp800-90b/src/index.ts';
import type { InitialFigures } from './claim.ts';
import { type BitstringPart, bitstringPart } from './coverage.ts';
import {
  bitStringText,
  hPrimeOf,
  IID_CAVEAT,
  type IidForm,
  iidTestsText,
  mostCommonRows,
  permutationRows,
  restartMostCommonRows,
  testRows,
} from './iid-report.ts';
import {
  absenceReasons,
  bitsText,
  CAVEAT,
  estimatorRows,
  figure,
  perBitName,
  RESTART_CAVEAT,
  valuesText,
} from './report.ts';
import { iidRule, restartRule } from './rules.ts';

export interface EntropyPageParts {
  readonly title: string;
  /** Null if the assessment has no tests that could fail. */
  readonly passed: boolean | null;
  /** What the tests say, or the result; null if `initial` is all. */
  readonly verdict: string | null;
  /** What H_I follows from; null if this assessment does not compute H_I. */
  readonly initial: InitialFigures | null;
  /** Sentences on what the verdict rests on. */
  readonly remarks: readonly string[];
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** The first row is the heading. */
  readonly tables: readonly { readonly title: string; readonly rows: readonly string[][] }[];
  /** Sentences on how the tests decide; empty without tests. */
  readonly rule: readonly string[];
  /** Sentences on signs in the tables. */
  readonly signs: readonly string[];
  readonly bitsPerSymbol: number;
  readonly bitstring: BitstringPart | null;
  readonly caveat: string;
}

export function nonIidPage(assessment: NonIidAssessment): EntropyPageParts {
  const { literal, bitstring, hBitstring, minEntropyPerSymbol } = assessment;
  const columns = bitstring === null ? [literal] : [literal, bitstring];
  const heading = ['estimator', 'samples: bits per symbol', 'bit string: bits per bit'];
  const rows = [heading.slice(0, 1 + columns.length), ...estimatorRows(columns)];
  return {
    title: 'Non-IID track',
    passed: null,
    verdict: null,
    initial: assessment,
    remarks: [],
    facts: [
      ...sizes(assessment),
      ...estimates(assessment),
      [perBitName(hBitstring), figure(minEntropyPerSymbol / assessment.bitsPerSymbol)],
    ],
    tables: [{ title: 'Estimators', rows }],
    rule: [],
    signs: absenceSigns(columns),
    bitsPerSymbol: assessment.bitsPerSymbol,
    bitstring: bitstringPart(assessment),
    caveat: CAVEAT,
  };
}

export function conditionedPage(assessment: ConditionedAssessment): EntropyPageParts {
  const { samples, bitsPerSymbol, bits, bitstring, hPrime } = assessment;
  const heading = ['estimator', 'bits per bit'];
  return {
    title: 'Conditioned output',
    passed: null,
    verdict: hPrimeText(hPrime),
    initial: null,
    remarks: [H_PRIME_REMARK],
    facts: [
      ['samples', grouped(samples)],
      ['assessed bits', grouped(bits)],
    ],
    tables: [{ title: 'Estimators', rows: [heading, ...estimatorRows([bitstring])] }],
    rule: [],
    signs: absenceSigns([bitstring]),
    bitsPerSymbol,
    bitstring: { bits, of: samples * bitsPerSymbol, alone: true },
    caveat: CAVEAT,
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

function hPrimeText(hPrime: number): string {
  return `Entropy of conditioned output h' = ${figure(hPrime)} bits per bit`;
}

const H_PRIME_REMARK =
  "Not a final assessment: h' is one of the figures that limit h_out, the entropy of the output (SP 800-90B §3.1.5.2). h_out is not part of this report.";

const OTHER_TRACK_REMARK =
  'The non-IID track applies to this source (SP 800-90B §3.1.2): assess it without --iid.';

export function restartPage(assessment: RestartAssessment): EntropyPageParts {
  const { rows, columns } = assessment;
  const heading = ['estimator', 'rows: bits per symbol', 'columns: bits per symbol'];
  return {
    ...awardParts(assessment, []),
    title: 'Restart tests, non-IID track',
    tables: [
      checksTable(assessment),
      { title: 'Estimators', rows: [heading, ...estimatorRows([rows, columns])] },
    ],
    rule: restartRule(assessment.sanityCheck),
    signs: absenceSigns([rows, columns]),
    caveat: RESTART_CAVEAT,
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

/** `tests` are the IID tests, which are run besides the checks of §3.1.4 on that track. */
function awardParts(
  award: RestartAward | IidRestartAssessment,
  tests: readonly IidTests[],
): Omit<EntropyPageParts, 'title' | 'tables' | 'rule' | 'signs' | 'caveat'> {
  const { sanityCheck, validationPassed, minEntropyPerSymbol } = award;
  return {
    passed: sanityCheck.passed && validationPassed && minEntropyPerSymbol !== null,
    verdict: awardVerdict(award, tests),
    initial: null,
    remarks: awardRemarks(award),
    facts: [
      ['H_I, bits per symbol', figure(award.initialMinEntropy)],
      ['H_r, bits per symbol', figure(award.hRows)],
      ['H_c, bits per symbol', figure(award.hColumns)],
    ],
    bitsPerSymbol: award.bitsPerSymbol,
    bitstring: null,
  };
}

function awardVerdict(
  { sanityCheck, validationPassed, minEntropyPerSymbol }: RestartAward | IidRestartAssessment,
  tests: readonly IidTests[],
): string {
  const checksPassed = sanityCheck.passed && validationPassed;
  if (minEntropyPerSymbol === null) {
    return `IID tests ${checksPassed ? '' : 'and restart tests '}FAILED: nothing assessed`;
  }
  if (!checksPassed) return 'Restart tests FAILED: no entropy awarded';
  const passed = tests.length === 0 ? 'passed' : `and IID tests ${iidTestsText(tests)}`;
  return `Restart tests ${passed}. Assessed entropy: ${figure(minEntropyPerSymbol)} bits per symbol`;
}

function awardRemarks(award: RestartAward | IidRestartAssessment): string[] {
  const { initialMinEntropy, hRows, hColumns, minEntropyPerSymbol } = award;
  const given = `H_I ${figure(initialMinEntropy)} is as given by the operator (--initial-entropy), not computed here. The result holds only if H_I does.`;
  if (minEntropyPerSymbol === null) return [given, OTHER_TRACK_REMARK];
  if (minEntropyPerSymbol === 0) return [given];
  const parts = `H_r ${figure(hRows)}, H_c ${figure(hColumns)}, H_I ${figure(initialMinEntropy)}`;
  return [`Assessed entropy = min(${parts}) = ${figure(minEntropyPerSymbol)} (§3.1.4).`, given];
}

function checksTable({
  sanityCheck,
  validationPassed,
  hRows,
  hColumns,
  initialMinEntropy,
}: RestartAward | IidRestartAssessment): EntropyPageParts['tables'][number] {
  const verdict = (passed: boolean): string => (passed ? 'passed' : 'FAILED');
  return {
    title: 'Restart tests',
    rows: [
      ['check', 'figure', 'value', 'limit', 'result'],
      [
        '3.1.4.3  sanity check',
        'greatest count of a value in a row or column',
        `${sanityCheck.maxCount}`,
        `at most ${sanityCheck.cutoff}`,
        verdict(sanityCheck.passed),
      ],
      [
        '3.1.4.2  validation',
        'min(H_r, H_c), bits per symbol',
        figure(Math.min(hRows, hColumns)),
        `at least H_I / 2 = ${figure(initialMinEntropy / 2)}`,
        verdict(validationPassed),
      ],
    ],
  };
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

function estimates({ hOriginal, hBitstring }: InitialFigures): [string, string][] {
  return [
    ['H_original, bits per symbol', figure(hOriginal)],
    ...(hBitstring === null
      ? []
      : [['H_bitstring, bits per bit', figure(hBitstring)] as [string, string]]),
  ];
}

function permutationFacts({ permutation }: IidTests, of: string): [string, string][] {
  return [
    [
      `permutations${of} made, of at most ${grouped(PERMUTATIONS)}`,
      grouped(permutation.permutations),
    ],
    ['seed', permutation.seed],
  ];
}

function testTables(tests: IidTests, of: string): EntropyPageParts['tables'] {
  return [
    { title: `Chi-square and repetition tests${of}`, rows: testRows(tests) },
    { title: `Permutation tests${of}`, rows: permutationRows(tests) },
  ];
}

const DEGREES_SIGN =
  '“-” means no figure: the longest repeated substring test has no degrees of freedom. Its statistic is a length.';

/** Returns why some estimators have no figure. */
function absenceSigns(columns: readonly (Outcomes | null)[]): string[] {
  const reasons = absenceReasons(columns);
  return reasons.length === 0 ? [] : [`“-” means no figure: ${reasons.join('; ')}.`];
}

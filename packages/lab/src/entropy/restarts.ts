/** The report on restart tests (SP 800-90B §3.1.4), and what both tracks say of them. */

import type {
  IidRestartAssessment,
  IidTests,
  RestartAssessment,
  RestartAward,
} from '../../../sp800-90b/src/index.ts';
import { snakeCase } from '../report/snake-case.ts';
import { alignColumns, resultText } from '../report/text.ts';
import { restartClaim } from './claim.ts';
import { absenceSigns, estimatorRows, estimatorsText, outcomesJson } from './estimators.ts';
import { figure, OTHER_TRACK_REMARK } from './figures.ts';
import { iidTestsText } from './iid-tests.ts';
import type { EntropyPageParts, EntropyReport } from './model.ts';
import { restartRule } from './rules.ts';

/** The figure of restart tests rests on two data sets. */
const CAVEAT = [
  'The assessed figure rests on these restarts and on H_I as given. It does not prove entropy: the output of a',
  'deterministic generator scores as high.',
];

/** Returns the report on the non-IID track; without `hSubmitter`, no claim was given. */
export function restartReport(assessment: RestartAssessment, hSubmitter?: number): EntropyReport {
  const { rows, columns } = assessment;
  const notes = ['rows: restart by restart', 'columns: the same sample of every restart'] as const;
  return {
    text: [
      ...estimatorsText(['min-entropy, bits per symbol', 'rows', 'columns'], [rows, columns]),
      alignColumns(awardRows(assessment, notes)),
      CAVEAT,
    ],
    json: awardJson(assessment, { rows: outcomesJson(rows), columns: outcomesJson(columns) }),
    claim: restartClaim(hSubmitter, assessment),
    page: restartPage(assessment),
  };
}

function restartPage(assessment: RestartAssessment): EntropyPageParts {
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
    caveat: CAVEAT,
  };
}

type Award = RestartAward | IidRestartAssessment;

/** Returns the rows of the text. `notes` explain H_r and H_c; `tests` are the IID tests. */
export function awardRows(
  award: Award,
  [rows, columns]: readonly [string, string],
  tests: readonly IidTests[] = [],
): string[][] {
  const { sanityCheck, validationPassed, minEntropyPerSymbol } = award;
  const { maxCount, cutoff, passed } = sanityCheck;
  const most = `most common value of a row or column: ${maxCount} times, at most ${cutoff} pass`;
  const isAwarded = passed && validationPassed;
  return [
    ['H_I', figure(award.initialMinEntropy), 'as given'],
    ['H_r', figure(award.hRows), rows],
    ['H_c', figure(award.hColumns), columns],
    ...(tests.length > 0 ? [['IID tests', iidTestsText(tests), 'of rows and columns']] : []),
    ['Sanity check', resultText(passed), most],
    ['Validation', resultText(validationPassed), 'min(H_r, H_c) >= H_I / 2'],
    minEntropyPerSymbol === null
      ? ['Assessed', 'nothing', 'use the non-IID track, without --iid']
      : [
          'Assessed',
          figure(minEntropyPerSymbol),
          isAwarded ? 'min(H_r, H_c, H_I)' : '0, because a check failed',
        ],
  ];
}

/** Returns the members of the JSON; `parts` are those on rows and columns. */
export function awardJson(award: Award, parts: object): object {
  return {
    bits_per_symbol: award.bitsPerSymbol,
    alphabet_size: award.alphabetSize,
    h_initial: award.initialMinEntropy,
    sanity_check: snakeCase(award.sanityCheck),
    ...parts,
    h_rows: award.hRows,
    h_columns: award.hColumns,
    validation_passed: award.validationPassed,
    min_entropy_per_symbol: award.minEntropyPerSymbol,
  };
}

/** `tests` are the IID tests, which are run besides the checks of §3.1.4 on that track. */
export function awardParts(
  award: Award,
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
  { sanityCheck, validationPassed, minEntropyPerSymbol }: Award,
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

function awardRemarks(award: Award): string[] {
  const { initialMinEntropy, hRows, hColumns, minEntropyPerSymbol } = award;
  const given = `H_I ${figure(initialMinEntropy)} is as given by the operator (--initial-entropy), not computed here. The result holds only if H_I does.`;
  if (minEntropyPerSymbol === null) return [given, OTHER_TRACK_REMARK];
  if (minEntropyPerSymbol === 0) return [given];
  const parts = `H_r ${figure(hRows)}, H_c ${figure(hColumns)}, H_I ${figure(initialMinEntropy)}`;
  return [`Assessed entropy = min(${parts}) = ${figure(minEntropyPerSymbol)} (§3.1.4).`, given];
}

export function checksTable({
  sanityCheck,
  validationPassed,
  hRows,
  hColumns,
  initialMinEntropy,
}: Award): EntropyPageParts['tables'][number] {
  return {
    title: 'Restart tests',
    rows: [
      ['check', 'figure', 'value', 'limit', 'result'],
      [
        '3.1.4.3  sanity check',
        'greatest count of a value in a row or column',
        `${sanityCheck.maxCount}`,
        `at most ${sanityCheck.cutoff}`,
        resultText(sanityCheck.passed),
      ],
      [
        '3.1.4.2  validation',
        'min(H_r, H_c), bits per symbol',
        figure(Math.min(hRows, hColumns)),
        `at least H_I / 2 = ${figure(initialMinEntropy / 2)}`,
        resultText(validationPassed),
      ],
    ],
  };
}

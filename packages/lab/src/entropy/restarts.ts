/** The report on restart tests (SP 800-90B §3.1.4), and what both tracks say of them. */

import type {
  IidRestartAssessment,
  IidTests,
  RestartAssessment,
  RestartAward,
} from '../../../sp800-90b/src/index.ts';
import { alignColumns } from '../report/text.ts';
import { absenceSigns, estimatorRows, outcomesJson, outcomeTable } from './estimators.ts';
import { figure, OTHER_TRACK_REMARK, snakeCase } from './figures.ts';
import { iidTestsText } from './iid-tests.ts';
import type { EntropyPageParts } from './page.ts';
import { restartRule } from './rules.ts';

/** The figure of restart tests rests on two data sets. */
const RESTART_CAVEAT = `The assessed figure rests on these restarts and on H_I as given. It does not prove entropy: the output of a
deterministic generator scores as high.
`;

export function formatRestartText(assessment: RestartAssessment): string {
  const { sanityCheck, hRows, hColumns, initialMinEntropy, validationPassed } = assessment;
  const { maxCount, cutoff, passed } = sanityCheck;
  const lines = [
    ...outcomeTable(
      ['min-entropy, bits per symbol', 'rows', 'columns'],
      [assessment.rows, assessment.columns],
    ),
    '',
    ...alignColumns([
      ['H_I', figure(initialMinEntropy), 'as given'],
      ['H_r', figure(hRows), 'rows: restart by restart'],
      ['H_c', figure(hColumns), 'columns: the same sample of every restart'],
      [
        'Sanity check',
        passed ? 'passed' : 'FAILED',
        `most common value of a row or column: ${maxCount} times, at most ${cutoff} pass`,
      ],
      ['Validation', validationPassed ? 'passed' : 'FAILED', 'min(H_r, H_c) >= H_I / 2'],
      ['Assessed', figure(assessment.minEntropyPerSymbol), awardText(assessment)],
    ]),
    '',
  ];
  return `${lines.join('\n')}\n${RESTART_CAVEAT}`;
}

export function restartJson(assessment: RestartAssessment): Record<string, unknown> {
  const { sanityCheck, minEntropyPerSymbol } = assessment;
  return {
    bits_per_symbol: assessment.bitsPerSymbol,
    alphabet_size: assessment.alphabetSize,
    h_initial: assessment.initialMinEntropy,
    sanity_check: snakeCase(sanityCheck),
    rows: outcomesJson(assessment.rows),
    columns: outcomesJson(assessment.columns),
    h_rows: assessment.hRows,
    h_columns: assessment.hColumns,
    validation_passed: assessment.validationPassed,
    min_entropy_per_symbol: minEntropyPerSymbol,
  };
}

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

export function awardText({
  sanityCheck,
  validationPassed,
}: Pick<RestartAward, 'sanityCheck' | 'validationPassed'>): string {
  return sanityCheck.passed && validationPassed
    ? 'min(H_r, H_c, H_I)'
    : '0, because a check failed';
}

/** `tests` are the IID tests, which are run besides the checks of §3.1.4 on that track. */
export function awardParts(
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

export function checksTable({
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

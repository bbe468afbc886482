/** The output of `phm assess-entropy`: tables for people, JSON for machines. */

import { grouped } from '../../../sp800-22/src/index.ts';
import {
  ASSESSMENT_SAMPLES,
  type ConditionedAssessment,
  ESTIMATOR_NAMES,
  type EstimatorName,
  type EstimatorProgress,
  type NonIidAssessment,
  type Outcome,
  type Outcomes,
  type RestartAssessment,
  type RestartAward,
} from '../../../sp800-90b/src/index.ts';
import { alignColumns } from '../report/text.ts';

/** Names and sections of SP 800-90B. */
const TITLES: Readonly<Record<EstimatorName, string>> = {
  most_common_value: '6.3.1  most common value',
  collision: '6.3.2  collision',
  markov: '6.3.3  Markov',
  compression: '6.3.4  compression',
  t_tuple: '6.3.5  t-tuple',
  longest_repeated_substring: '6.3.6  longest repeated substring',
  multi_mcw: '6.3.7  multi most common in window',
  lag: '6.3.8  lag',
  multi_mmc: '6.3.9  multi Markov with counting',
  lz78y: '6.3.10 LZ78Y',
};

export const CAVEAT = `This is an estimate by the non-IID track of SP 800-90B, from these samples only. It does not prove entropy:
the output of a deterministic generator scores as high.
`;

/** The figure of restart tests rests on two data sets. */
export const RESTART_CAVEAT = `The assessed figure rests on these restarts and on H_I as given. It does not prove entropy: the output of a
deterministic generator scores as high.
`;

export function formatEntropyText(assessment: NonIidAssessment): string {
  const { samples, bitsPerSymbol, alphabetSize, hOriginal, hBitstring, minEntropyPerSymbol } =
    assessment;
  const lines = [
    `${grouped(samples)} samples of ${bitsText(bitsPerSymbol)}, ${valuesText(alphabetSize)}`,
    '',
    ...outcomeTable(
      ['min-entropy', 'bits per symbol', 'bits per bit of bit string'],
      [assessment.literal, assessment.bitstring],
    ),
    '',
    ...alignColumns([
      ['H_original', `${figure(hOriginal)} bits per symbol`],
      ['H_bitstring', hBitstring === null ? '-' : `${figure(hBitstring)} bits per bit`],
      ['Estimate', estimateText(minEntropyPerSymbol, bitsPerSymbol)],
    ]),
    '',
  ];
  return `${lines.join('\n')}\n${CAVEAT}`;
}

/** Returns min(H_original, bits · H_bitstring), which the restart tests may still lower. */
export function estimateText(minEntropyPerSymbol: number, bitsPerSymbol: number): string {
  const perBit = minEntropyPerSymbol / bitsPerSymbol;
  return `${figure(minEntropyPerSymbol)} bits per symbol, ${figure(perBit)} bits per bit`;
}

/** Names the estimate divided by the bits of a symbol. */
export function perBitName(hBitstring: number | null): string {
  return `${hBitstring === null ? 'H_original' : 'estimate'}, bits per bit of a symbol`;
}

export function formatConditionedText(assessment: ConditionedAssessment): string {
  const { samples, bitsPerSymbol, bits, bitstring, hPrime } = assessment;
  const lines = [
    `${grouped(samples)} samples of ${bitsText(bitsPerSymbol)}, ${grouped(bits)} bits assessed`,
    '',
    ...outcomeTable(['min-entropy', 'bits per bit'], [bitstring]),
    '',
    `h'  ${figure(hPrime)} bits per bit, for assess-conditioning --h-prime`,
    '',
  ];
  return `${lines.join('\n')}\n${CAVEAT}`;
}

export function conditionedJson(assessment: ConditionedAssessment): Record<string, unknown> {
  return {
    samples: assessment.samples,
    enough_samples: assessment.samples >= ASSESSMENT_SAMPLES,
    bits_per_symbol: assessment.bitsPerSymbol,
    bits: assessment.bits,
    bitstring: outcomesJson(assessment.bitstring),
    h_prime: assessment.hPrime,
  };
}

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

export function awardText({
  sanityCheck,
  validationPassed,
}: Pick<RestartAward, 'sanityCheck' | 'validationPassed'>): string {
  return sanityCheck.passed && validationPassed
    ? 'min(H_r, H_c, H_I)'
    : '0, because a check failed';
}

/** Returns a row for each estimator: its name, and its estimates. */
export function estimatorRows(columns: readonly (Outcomes | null)[]): string[][] {
  return ESTIMATOR_NAMES.map((name) => [
    TITLES[name],
    ...columns.map((outcomes) => cell(outcomes?.[name])),
  ]);
}

function outcomeTable(heading: string[], columns: readonly (Outcomes | null)[]): string[] {
  const rows = estimatorRows(columns);
  const reasons = ESTIMATOR_NAMES.flatMap((name) => {
    const outcome = columns.map((outcomes) => outcomes?.[name]).find(isUnexpectedlyAbsent);
    return outcome && !outcome.applicable ? [`  ${TITLES[name].slice(7)}: ${outcome.reason}`] : [];
  });
  const table = alignColumns([heading, ...rows]);
  return reasons.length === 0 ? table : [...table, '', 'Without a figure:', ...reasons];
}

/** Returns why estimators have no figure in one of the columns: their names, and the reason. */
export function absenceReasons(columns: readonly (Outcomes | null)[]): string[] {
  const names = new Map<string, string[]>();
  for (const name of ESTIMATOR_NAMES) {
    const absent = columns.map((outcomes) => outcomes?.[name]).find((o) => o?.applicable === false);
    if (absent?.applicable !== false) continue;
    names.set(absent.reason, [...(names.get(absent.reason) ?? []), TITLES[name].slice(7)]);
  }
  return Array.from(names, ([reason, titles]) => `${titles.join(', ')} (${reason})`);
}

/** True if the result is missing for another reason than that the estimator is for binary input only. */
function isUnexpectedlyAbsent(outcome: Outcome | undefined): boolean {
  return outcome?.applicable === false && outcome.reason !== 'for binary input only';
}

function cell(outcome: Outcome | undefined): string {
  return outcome?.applicable ? figure(outcome.minEntropy) : '-';
}

export function figure(minEntropy: number): string {
  return minEntropy.toFixed(6);
}

export function valuesText(alphabetSize: number): string {
  return alphabetSize === 1 ? 'all the same' : `${alphabetSize} different values`;
}

export function bitsText(bits: number): string {
  return bits === 1 ? '1 bit' : `${bits} bits`;
}

/** Returns the warning about too few samples, or `null` if there are enough. */
export function tooFewWarning(samples: number): string | null {
  if (samples >= ASSESSMENT_SAMPLES) return null;
  const wanted = grouped(ASSESSMENT_SAMPLES);
  return `warning: ${grouped(samples)} samples; SP 800-90B section 3.1.1 requires ${wanted}. With fewer, the estimates are lower and less certain
`;
}

/** Returns the assessment with the field names of the JSON output. */
export function entropyJson(assessment: NonIidAssessment): Record<string, unknown> {
  const { samples, bitsPerSymbol, minEntropyPerSymbol } = assessment;
  return {
    samples,
    enough_samples: samples >= ASSESSMENT_SAMPLES,
    bits_per_symbol: bitsPerSymbol,
    alphabet_size: assessment.alphabetSize,
    literal: outcomesJson(assessment.literal),
    bitstring: assessment.bitstring && outcomesJson(assessment.bitstring),
    bitstring_bits: assessment.bitstringBits,
    h_original: assessment.hOriginal,
    h_bitstring: assessment.hBitstring,
    min_entropy_per_symbol: minEntropyPerSymbol,
    min_entropy_per_bit: minEntropyPerSymbol / bitsPerSymbol,
  };
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

function outcomesJson(outcomes: Outcomes): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(outcomes).map(([name, outcome]) => [name, snakeCase(outcome)]),
  );
}

/** Converts field names such as `pGlobalUpper` to `p_global_upper`. */
export function snakeCase(record: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** Returns the progress line of the estimators. */
export function estimatorText({ estimator, input, finished, total }: EstimatorProgress): string {
  return `${finished + 1} of ${total}: ${estimator.replaceAll('_', ' ')}, on ${input}`;
}

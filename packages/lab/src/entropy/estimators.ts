/** The estimators of SP 800-90B §6.3 as tables, and in the JSON. */

import {
  ESTIMATOR_NAMES,
  type EstimatorName,
  type EstimatorProgress,
  type Outcome,
  type Outcomes,
} from '../../../sp800-90b/src/index.ts';
import { snakeCase } from '../report/snake-case.ts';
import { alignColumns, type Paragraph } from '../report/text.ts';
import { figure } from './figures.ts';

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

/** Returns the paragraphs of the text: the table, and why estimators have no figure. */
export function estimatorsText(
  heading: string[],
  columns: readonly (Outcomes | null)[],
): Paragraph[] {
  const reasons = ESTIMATOR_NAMES.flatMap((name) => {
    const outcome = columns.map((outcomes) => outcomes?.[name]).find(isUnexpectedlyAbsent);
    return outcome && !outcome.applicable ? [`  ${TITLES[name].slice(7)}: ${outcome.reason}`] : [];
  });
  return [
    alignColumns([heading, ...estimatorRows(columns)]),
    reasons.length === 0 ? [] : ['Without a figure:', ...reasons],
  ];
}

/** Returns a row for each estimator: its name, and its estimates. */
export function estimatorRows(columns: readonly (Outcomes | null)[]): string[][] {
  return ESTIMATOR_NAMES.map((name) => [
    TITLES[name],
    ...columns.map((outcomes) => cell(outcomes?.[name])),
  ]);
}

/** True if the result is missing for another reason than that the estimator is for binary input only. */
function isUnexpectedlyAbsent(outcome: Outcome | undefined): boolean {
  return outcome?.applicable === false && outcome.reason !== 'for binary input only';
}

function cell(outcome: Outcome | undefined): string {
  return outcome?.applicable ? figure(outcome.minEntropy) : '-';
}

/** Returns why some estimators have no figure. */
export function absenceSigns(columns: readonly (Outcomes | null)[]): string[] {
  const reasons = absenceReasons(columns);
  return reasons.length === 0 ? [] : [`“-” means no figure: ${reasons.join('; ')}.`];
}

/** Returns why estimators have no figure in one of the columns: their names, and the reason. */
function absenceReasons(columns: readonly (Outcomes | null)[]): string[] {
  const names = new Map<string, string[]>();
  for (const name of ESTIMATOR_NAMES) {
    const absent = columns.map((outcomes) => outcomes?.[name]).find((o) => o?.applicable === false);
    if (absent?.applicable !== false) continue;
    names.set(absent.reason, [...(names.get(absent.reason) ?? []), TITLES[name].slice(7)]);
  }
  return Array.from(names, ([reason, titles]) => `${titles.join(', ')} (${reason})`);
}

export function outcomesJson(outcomes: Outcomes): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(outcomes).map(([name, outcome]) => [name, snakeCase(outcome)]),
  );
}

/** Returns the progress line of the estimators. */
export function estimatorText({ estimator, input, finished, total }: EstimatorProgress): string {
  return `${finished + 1} of ${total}: ${estimator.replaceAll('_', ' ')}, on ${input}`;
}

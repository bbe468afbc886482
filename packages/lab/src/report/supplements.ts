/** The supplements in text. Every place says that they are not part of SP 800-22. */

import {
  grouped,
  NOT_OF_STANDARD,
  type Statistics,
  type SupplementName,
  type SupplementOutcome,
} from '../../../sp800-22/src/index.ts';
import { pValueText } from './p-value-text.ts';
import { failureText } from './second-level-text.ts';
import type { GroupSummary, SupplementSummary } from './summary.ts';
import { alignColumns, type Paragraph, resultText } from './text.ts';
import { partLines } from './verdict-text.ts';

/** What each supplement detects. */
export const SUPPLEMENT_DETECTS: Readonly<Record<SupplementName, string>> = {
  autocorrelation: 'bits that depend on bits some places earlier',
  spectral_peak: 'one frequency that is too strong',
  byte_distribution: 'uneven frequency of byte values',
};

/** Where the largest deviation is, and how large; empty if the supplement has no such place. */
const FINDINGS: Readonly<Record<SupplementName, (statistics: Statistics) => string>> = {
  autocorrelation: ({ lag, z }) => `lag ${grouped(Number(lag))}: ${Number(z).toFixed(1)} σ`,
  spectral_peak: ({ k, power }) => `k = ${grouped(Number(k))}: ${Number(power).toFixed(1)} n`,
  byte_distribution: ({ chi2 }) => `χ² = ${Number(chi2).toFixed(1)}`,
};

/** Returns the place and size of the largest deviation, such as "lag 1,000: 11.7 σ". */
export function findingText(outcome: SupplementOutcome): string {
  return outcome.applicable ? FINDINGS[outcome.name](outcome.statistics) : '';
}

/** The text on the supplements of one sequence. */
export function supplementsOfSequence(
  outcomes: readonly SupplementOutcome[],
  group: GroupSummary,
): Paragraph[] {
  const failed = outcomes.filter((one) => one.applicable && !one.passed).map(({ name }) => name);
  const rows = outcomes.map((one) => {
    if (!one.applicable) return [one.name, '-', `not applicable: ${one.reason}`, ''];
    const result = one.passed ? 'passed' : 'failed';
    return [one.name, pValueText(one.pValues[0]), result, findingText(one)];
  });
  return [
    [
      TITLE,
      ...alignColumns([['supplement', 'p-value', 'result', 'largest deviation'], ...rows]),
      ...(failed.length > 0 ? [`Failed: ${failed.join(', ')}.`] : []),
    ],
    verdictLines(group),
  ];
}

/** The text on the supplements of many sequences. */
export function supplementsOfSource(group: SupplementSummary): Paragraph[] {
  const { tests, secondLevel } = group;
  const rows = tests.map(({ name, applicable, passed }) => [name, `${passed} of ${applicable}`]);
  const judged = secondLevel.judged ? secondLevel.rows : [];
  return [
    [TITLE, ...alignColumns([['supplement', 'sequences passed'], ...rows])],
    [...verdictLines(group), ...judged.filter((row) => row.judged && !row.passed).map(failureText)],
  ];
}

const TITLE = `Supplements, ${NOT_OF_STANDARD}:`;

function verdictLines(group: GroupSummary): string[] {
  return [`Supplements: ${resultText(group.verdict.passed)}.`, ...partLines(group)];
}

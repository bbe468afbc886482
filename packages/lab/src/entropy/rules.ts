/** How a report of `phm assess-entropy` decides, how often it is wrong by chance, and how to read its figures. */

import { grouped } from '../../../sp800-22/src/index.ts';
import {
  FAILING_RANK,
  IID_TEST_ALPHA,
  type IidTests,
  PERMUTATIONS,
  RESTART_FALSE_ALARM,
  RESTARTS,
  type SanityCheck,
  STATISTIC_NAMES,
} from '../../../sp800-90b/src/index.ts';

/** The chi-square tests and the longest repeated substring test. */
const P_VALUE_TESTS = 3;

/** All tests on one data set. */
export const IID_TESTS = P_VALUE_TESTS + STATISTIC_NAMES.length;

/** Ranks among all orders of the samples, the given one included, and those that fail, at either end. */
const RANKS = PERMUTATIONS + 1;
const FAILING_RANKS = 2 * (FAILING_RANK + 1);

/**
 * Bound for the share of IID sources that fail a data set. The sum of the rates holds however the tests depend on each
 * other. Every order of IID samples is as likely, so the rank of the given one is uniform; equal statistics lower the rate.
 */
const IID_FALSE_ALARM =
  P_VALUE_TESTS * IID_TEST_ALPHA + (STATISTIC_NAMES.length * FAILING_RANKS) / RANKS;

/** The differences that docs/entropy-assessment.md lists. */
export const ESTIMATOR_NOTE =
  'Where the text of SP 800-90B §6.3 is open, or NIST’s program (version 1.1.7) departs from it, the estimators do what the program does: values that do not occur are dropped, MultiMMC keeps 100,000 pairs of prefix and symbol for each length, LZ78Y keeps 65,536 prefixes, P_local is computed only where it would lower an estimate, and Z is 2.5758293 instead of 2.576. Most estimates rest on a 99 % confidence bound.';

export const DIGITS_NOTE =
  'The digits are for comparison with other programs, not a measure of accuracy.';

/** Returns the rule of the IID tests. `tests` has those of each data set, which the rows and columns of restarts are. */
export function iidRule(tests: readonly IidTests[]): string[] {
  const [made, ofColumns] = tests.map(({ permutation }) => grouped(permutation.permutations));
  const here =
    ofColumns === undefined ? made : `${made} for the rows and ${ofColumns} for the columns`;
  // The verdict of a statistic that fails is that of exactly 10,000 permutations.
  const isEarly = tests.every(({ permutation }) => permutation.permutations < PERMUTATIONS);
  const early = isEarly ? ' More would not change a verdict.' : '';
  return [
    `The chi-square tests (§5.2.1 to §5.2.4) and the longest repeated substring test (§5.2.5) fail if the p-value is below ${IID_TEST_ALPHA}.`,
    `A permutation statistic (§5.1) fails if C0 + C1 or C1 + C2 is at most ${FAILING_RANK} of ${grouped(PERMUTATIONS)} permutations. C0, C1 and C2 count the permutations whose statistic is greater than, equal to and less than that of the samples.`,
    `Each statistic is counted until it cannot fail any more. Counting ends as soon as no statistic can fail any more, at most after ${grouped(PERMUTATIONS)} permutations: here after ${here}.${early}`,
    'If one test fails, the IID track gives no estimate (§3.1.2).',
    chanceText(tests.length),
  ];
}

function chanceText(dataSets: number): string {
  const statistics = STATISTIC_NAMES.length;
  const count = dataSets * IID_TESTS;
  const share = percent(dataSets * IID_FALSE_ALARM);
  const each = dataSets === 1 ? '' : ' for the rows, and as many for the columns';
  return `Failures by chance: ${P_VALUE_TESTS} tests have the nominal rate ${IID_TEST_ALPHA}, and ${statistics} statistics at most ${FAILING_RANKS} of ${grouped(RANKS)}${each}. The ${count} tests depend on each other, but their rates add up to a bound: at most about ${share} of IID sources fail, if the nominal rates hold.`;
}

/** Returns the rule of the checks of §3.1.4. */
export function restartRule({ cutoff }: SanityCheck): string[] {
  return [
    `The sanity check (§3.1.4.3) fails if a value occurs more than ${cutoff} times in one of the ${grouped(RESTARTS)} rows or ${grouped(RESTARTS)} columns of ${grouped(RESTARTS)} samples.`,
    'This limit is not that of the text. It is the exact quantile of the greatest count under the worst distribution with min-entropy H_I, which NIST’s program simulates. The binomial tail of the text would fail four of five sound matrices of 8-bit samples with H_I = 8.',
    `Failures by chance: of the sources whose samples are IID with a min-entropy of H_I, at most about ${percent(RESTART_FALSE_ALARM)} fail the sanity check. For one row or column, the probability is at most 1\u00a0−\u00a0${1 - RESTART_FALSE_ALARM}^(1/${2 * RESTARTS}), about 0.000005.`,
    'The validation (§3.1.4.2) fails if min(H_r, H_c) is below H_I / 2. The standard names no rate of failures by chance for it.',
    'If one of the two fails, no entropy is awarded (§3.1.4).',
  ];
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`;
}

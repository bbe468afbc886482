/** Computes the table of limits from counts. */

import { binomialLower, binomialUpper } from '../../../sp800-22/src/binomial.ts';
import { FAMILY_ALPHA } from '../../../sp800-22/src/index-node.ts';
import type { PValueLaw } from '../../../sp800-22/src/p-value-laws.ts';
import type { LawCounts } from './counts.ts';

/** Level of one check with 188 rows. */
const CHECK_ALPHA = FAMILY_ALPHA / (2 * 188);

/** A check may fail a sound source this many times as often as its level says. */
const TOLERANCE = 2;

/**
 * Noncentrality of χ² with nine degrees at which a check of level `CHECK_ALPHA` fails twice as often. (With fewer
 * checks the level is higher, and the factor smaller.)
 */
const NONCENTRALITY = 0.45;

/** No limit is above this number of sequences. */
const MOST = 100_000;

/** Distance of the true classes from the law: χ² per sequence, without the share of chance. */
interface Distance {
  readonly squared: number;
  readonly standardError: number;
}

export function distance({ sequences, classes }: LawCounts, law: PValueLaw): Distance {
  let sum = 0;
  for (const [i, probability] of law.classes.entries()) {
    if (probability > 0) sum += (classes[i] / sequences - probability) ** 2 / probability;
  }
  const degrees = law.classes.filter((probability) => probability > 0).length - 1;
  const squared = Math.max(0, sum - degrees / sequences);
  const standardError = Math.sqrt((2 * degrees) / sequences + 4 * squared) / Math.sqrt(sequences);
  return { squared, standardError };
}

/** Returns the most sequences whose classes may be judged: one standard error is on the safe side. */
export function uniformityLimit(counts: LawCounts, law: PValueLaw): number {
  const { squared, standardError } = distance(counts, law);
  return rounded(NONCENTRALITY / (squared + standardError));
}

/** Returns the most sequences whose proportion may be judged: one standard error is on the safe side. */
export function proportionLimit({ sequences, below }: LawCounts, law: PValueLaw): number {
  const q = law.belowAlpha;
  const measured = below / sequences;
  const standardError = Math.sqrt((measured * (1 - measured)) / sequences);
  let limit = 0;
  for (let m = 55; m <= MOST; m = Math.ceil(m * 1.05)) {
    const level = Math.max(
      failing(m, q, measured + standardError + 1e-9),
      failing(m, q, Math.max(measured - standardError, 1e-9)),
    );
    if (level > TOLERANCE * CHECK_ALPHA) return rounded(limit);
    limit = m;
  }
  return MOST;
}

/** Returns the probability that m sequences fail the check for `q`, if each is below 0.01 with `truth`. */
function failing(m: number, q: number, truth: number): number {
  const fails = (tail: number): boolean => 2 * tail < CHECK_ALPHA;
  let most = Math.ceil(m * q);
  while (most <= m && !fails(binomialUpper(most, m, q))) most++;
  let fewest = Math.floor(m * q);
  while (fewest >= 0 && !fails(binomialLower(fewest, m, q))) fewest--;
  const above = most <= m ? binomialUpper(most, m, truth) : 0;
  return above + (fewest >= 0 ? binomialLower(fewest, m, truth) : 0);
}

/** Returns two leading digits, rounded down. */
function rounded(limit: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, limit))) - 1);
  return Math.min(MOST, Math.floor(limit / unit) * unit);
}

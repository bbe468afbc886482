/**
 * The second level: judges a source by the p-values of many sequences. SP 800-22 Rev. 1a §4.2: the
 * proportion of sequences that pass (§4.2.1) and the uniformity of the p-values (§4.2.2).
 */

import {
  assertInteger,
  assertNumber,
  assertNumbers,
  assertObject,
  assertRows,
  isProbability,
} from './arguments.ts';
import { binomialLower, binomialTwoSided, binomialUpper } from './binomial.ts';
import { CONSTANTS, type Constants } from './constants.ts';
import { square } from './elementary.ts';
import { grouped } from './grouped.ts';
import { CLASSES, type PValueLaw, pValueLaw } from './p-value-laws.ts';
import type { RowCounts } from './p-value-tally.ts';
import type { SuiteParameters, TestParameters } from './parameters.ts';
import { ALPHA } from './pass-rule.ts';
import { resolveParameters } from './resolve-parameters.ts';
import { judgeableSequences, notMeasured, UNLIMITED } from './second-level-limits.ts';
import { igamc } from './special-functions.ts';

/** §4.2.2: the second level needs at least this many sequences. */
export const SECOND_LEVEL_MINIMUM_SEQUENCES = 55;

/** §4.2.2: below this P-value_T the standard calls the p-values of one row not uniform. */
export const UNIFORMITY_ALPHA = 1e-4;

/**
 * The share of sound sources that the verdict may fail, if it stands alone. The standard's own limits are for one row: of
 * all sound sources, 97 % have one of 188 rows outside ±3σ with 55 or 100 sequences, 49 % with 300, 47 %
 * with 1,000 and 36 % with 5,000.
 */
export const FAMILY_ALPHA = 0.01;

/** Classes of a χ² check with fewer expected p-values are joined with their neighbours. */
const EXPECTED_AT_LEAST = 5;

interface UnjudgedRow extends RowCounts {
  readonly judged: false;
  readonly reason: string;
}

/** One of the two checks of a row, or the reason why it may not be judged. */
export type Check =
  | {
      readonly judged: true;
      readonly p: number;
      /** Only if the row has more sequences: the check has its counts in proportion, as if there were only so many. */
      readonly limit?: number;
    }
  | { readonly judged: false; readonly reason: string };

export interface JudgedRow extends RowCounts {
  readonly judged: true;
  readonly proportion: number;
  /** §4.2.1: 1 − α ± 3 √(α (1 − α) / m), at most 1. */
  readonly interval: readonly [number, number];
  readonly inInterval: boolean;
  /** Exact two-sided probability of a count of passes at least this far from its expectation, for uniform p-values. */
  readonly proportionP: number;
  /** §4.2.2: P-value_T. */
  readonly uniformityP: number;
  /** True if P-value_T is at least `UNIFORMITY_ALPHA`. */
  readonly uniform: boolean;
  /** The check of the passes: as `proportionP`, with the true probability that p < `ALPHA`. */
  readonly proportionCheck: Check;
  /** The check of the classes: as P-value_T, with their true probabilities. */
  readonly uniformityCheck: Check;
  /** True if the probability of every judged check is at least `checkAlpha`. */
  readonly passed: boolean;
}

export type SecondLevelRow<Row extends RowCounts = RowCounts> = Row & (JudgedRow | UnjudgedRow);

export interface SecondLevelVerdict<Row extends RowCounts = RowCounts> {
  readonly judged: true;
  readonly familyAlpha: number;
  /** Number of judged checks: one or two per judged row. */
  readonly checks: number;
  /** A row fails if a check has a probability below this: `familyAlpha` / `checks`. */
  readonly checkAlpha: number;
  readonly rows: readonly SecondLevelRow<Row>[];
  readonly rowsJudged: number;
  readonly rowsFailed: number;
  /** Rows outside the standard's interval, and their average number for a sound source. */
  readonly rowsOutsideInterval: number;
  readonly expectedOutsideInterval: number;
  readonly rowsNotUniform: number;
  readonly passed: boolean;
}

/** No verdict, because there are too few sequences. `reason` is a clause for messages. */
interface NoSecondLevel {
  readonly judged: false;
  readonly reason: string;
}

export type SecondLevel<Row extends RowCounts = RowCounts> =
  | SecondLevelVerdict<Row>
  | NoSecondLevel;

/**
 * Judges a source by the counts of `sequences` sequences of `n` bits, tested with these parameters and constants. Other
 * properties of a row are kept.
 *
 * Each row has two checks, against the true distribution of its p-values at this length. A check fails if
 * its probability is below `familyAlpha` divided by the number of checks (Bonferroni: the rows need not be
 * independent). The source passes if every check passes. A row of a test that applied to fewer than 55
 * sequences is not judged, nor is a check for which the distribution is not known well enough. Where it is known
 * well enough for fewer sequences than there are, the check takes the counts in proportion.
 */
export function judgeSecondLevel<Row extends RowCounts>(
  sequences: number,
  rows: readonly Row[],
  n: number,
  parameters: TestParameters = {},
  constants: Constants = 'exact',
  familyAlpha: number = FAMILY_ALPHA,
): SecondLevel<Row> {
  assertInteger('sequences', sequences, 0, Number.MAX_SAFE_INTEGER);
  assertRows('rows', rows, 'test', 'index', 'sequences', 'passes', 'histogram');
  assertInteger('n', n, 0, Number.MAX_SAFE_INTEGER);
  CONSTANTS('constants', constants);
  assertObject('parameters', parameters);
  assertShare('familyAlpha', familyAlpha);
  if (sequences < SECOND_LEVEL_MINIMUM_SEQUENCES) {
    return { judged: false, reason: tooFew(sequences) };
  }
  const resolved = resolveParameters(n, parameters);
  const figures = rows.map((row) => rowFigures(row, n, resolved, constants));
  const checks = figures.flatMap(checksOf).filter((check) => check.judged).length;
  if (checks === 0) return { judged: false, reason: whyNone(figures) };
  const checkAlpha = familyAlpha / checks;
  const judgements = figures.map((row) => judgeRow(row, checkAlpha));
  const judged = judgements.filter((row) => row.judged);
  const rowsFailed = judged.filter((row) => !row.passed).length;
  return {
    judged: true,
    familyAlpha,
    checks,
    checkAlpha,
    rows: judgements,
    rowsJudged: judged.length,
    rowsFailed,
    rowsOutsideInterval: judged.filter((row) => !row.inInterval).length,
    expectedOutsideInterval: judged.reduce((sum, row) => sum + outsideProbability(row), 0),
    rowsNotUniform: judged.filter((row) => !row.uniform).length,
    passed: rowsFailed === 0,
  };
}

/** A row with all its figures but the verdict. */
type RowFigures<Row> = Row & (Omit<JudgedRow, 'passed'> | UnjudgedRow);

function checksOf(row: Omit<JudgedRow, 'passed'> | UnjudgedRow): Check[] {
  return row.judged ? [row.proportionCheck, row.uniformityCheck] : [];
}

function tooFew(sequences: number): string {
  return `needs at least ${SECOND_LEVEL_MINIMUM_SEQUENCES} sequences, got ${sequences}`;
}

function whyNone(rows: readonly (Omit<JudgedRow, 'passed'> | UnjudgedRow)[]): string {
  const enough = rows.filter(({ sequences }) => sequences >= SECOND_LEVEL_MINIMUM_SEQUENCES);
  const [reason, ...others] = new Set(enough.map((row) => (row.judged ? '' : row.reason)));
  if (reason === undefined) return 'no test applied to enough of the sequences';
  return others.length === 0
    ? reason
    : 'the distributions of the p-values are not known well enough';
}

function rowFigures<Row extends RowCounts>(
  row: Row,
  n: number,
  parameters: SuiteParameters,
  constants: Constants,
): RowFigures<Row> {
  if (row.sequences < SECOND_LEVEL_MINIMUM_SEQUENCES) {
    return { ...row, judged: false, reason: tooFew(row.sequences) };
  }
  const reason = notMeasured(row, parameters, constants);
  if (reason) return { ...row, judged: false, reason };
  const [proportionCheck, uniformityCheck] = rowChecks(row, n, parameters);
  if (!proportionCheck.judged && !uniformityCheck.judged) {
    return { ...row, judged: false, reason: proportionCheck.reason };
  }
  return { ...row, judged: true, ...standardFigures(row), proportionCheck, uniformityCheck };
}

function rowChecks(
  row: RowCounts,
  n: number,
  parameters: SuiteParameters,
): readonly [proportion: Check, uniformity: Check] {
  const { sequences, histogram } = row;
  const law = pValueLaw(row, n, parameters);
  const limits = law.exact ? UNLIMITED : judgeableSequences(row, n, parameters);
  return [
    check(sequences, n, limits.proportion, (m) =>
      proportionProbability(passesOf(m, row, law.belowAlpha), m, law.belowAlpha),
    ),
    check(sequences, n, limits.uniformity, (m) =>
      fitProbability(
        histogram.map((F) => (F * m) / sequences),
        law,
      ),
    ),
  ];
}

/** The figures of §4.2, which take p-values as uniform. */
function standardFigures({ sequences, passes, histogram }: RowCounts) {
  const proportion = passes / sequences;
  const interval = proportionInterval(sequences);
  const uniformityP = uniformityPValue(histogram);
  return {
    proportion,
    interval,
    inInterval: proportion >= interval[0] && proportion <= interval[1],
    proportionP: proportionProbability(passes, sequences),
    uniformityP,
    uniform: uniformityP >= UNIFORMITY_ALPHA,
  };
}

/**
 * Returns the check with the probability of `compute`, which gets the number of sequences that the counts are to stand
 * for: at most `most`. The counts of more sequences scatter less than their proportion to `most` should, so a sound
 * source fails less often than with `most` sequences.
 */
function check(
  sequences: number,
  n: number,
  most: number,
  compute: (sequences: number) => number,
): Check {
  if (sequences <= most) return { judged: true, p: compute(sequences) };
  if (most >= SECOND_LEVEL_MINIMUM_SEQUENCES) {
    return { judged: true, p: compute(most), limit: most };
  }
  return {
    judged: false,
    reason: `the distribution of its p-values is not known well enough at ${grouped(n)} bits`,
  };
}

/** Returns the passes of a row in proportion to `m` sequences, rounded towards those that a sound source has. */
function passesOf(m: number, { passes, sequences }: RowCounts, belowAlpha: number): number {
  const exact = (passes * m) / sequences;
  return exact < m * (1 - belowAlpha) ? Math.ceil(exact) : Math.floor(exact);
}

function judgeRow<Row extends RowCounts>(
  row: RowFigures<Row>,
  checkAlpha: number,
): SecondLevelRow<Row> {
  if (!row.judged) return row;
  return { ...row, passed: checksOf(row).every((one) => !one.judged || one.p >= checkAlpha) };
}

/** §4.2.1: returns p̂ ± 3 √(p̂ (1 − p̂) / m) with p̂ = 1 − α, at most 1, because no proportion exceeds 1. */
export function proportionInterval(m: number): readonly [number, number] {
  assertInteger('m', m, 1, Number.MAX_SAFE_INTEGER);
  const halfWidth = 3 * Math.sqrt((ALPHA * (1 - ALPHA)) / m);
  return [1 - ALPHA - halfWidth, Math.min(1, 1 - ALPHA + halfWidth)];
}

/**
 * Returns the probability that a sound source has a count of passes at least this far from its
 * expectation: twice the smaller exact tail. A sequence fails with probability `q`. (The normal interval of
 * §4.2.1 assumes 0.13 % of the rows below it; at m = 100 there are 1.8 %.)
 */
export function proportionProbability(passes: number, m: number, q: number = ALPHA): number {
  assertInteger('m', m, 1, Number.MAX_SAFE_INTEGER);
  assertInteger('passes', passes, 0, m);
  assertShare('q', q);
  return binomialTwoSided(m - passes, m, q);
}

/**
 * §4.2.2: returns P-value_T = igamc(9/2, χ²/2), χ² = Σ (F_i − s/10)² / (s/10), for s p-values.
 * The NIST program divides s by 10 in integers; here s/10 is exact.
 */
export function uniformityPValue(histogram: readonly number[]): number {
  assertNumbers('histogram', histogram, 'counts', isCount);
  assertInteger('histogram.length', histogram.length, CLASSES, CLASSES);
  const s = histogram.reduce((sum, F) => sum + F, 0);
  assertInteger('histogram sum', s, 1, Number.MAX_SAFE_INTEGER);
  const expected = s / CLASSES;
  const chi2 = histogram.reduce((sum, F) => sum + square(F - expected) / expected, 0);
  return igamc((CLASSES - 1) / 2, chi2 / 2);
}

/**
 * Returns igamc(df/2, χ²/2) of the counts against the class probabilities of `law`. For uniform p-values
 * this is P-value_T. Neighbouring classes are joined until each expects `EXPECTED_AT_LEAST` p-values.
 */
export function fitProbability(histogram: readonly number[], law: PValueLaw): number {
  assertNumbers('histogram', histogram, 'counts', isCount);
  assertObject('law', law, 'classes');
  const { classes } = law;
  assertNumbers('law.classes', classes, 'numbers from 0 to 1', isProbability);
  assertInteger('histogram.length', histogram.length, 1, classes.length);
  const s = histogram.reduce((sum, F) => sum + F, 0);
  const joined = joinClasses(histogram, classes, s);
  const chi2 = joined.reduce((sum, { F, expected }) => sum + square(F - expected) / expected, 0);
  return joined.length < 2 ? 1 : igamc((joined.length - 1) / 2, chi2 / 2);
}

function assertShare(name: string, value: number): void {
  assertNumber(name, value, 'a number between 0 and 1', (one) => one > 0 && one < 1);
}

function isCount(value: number): boolean {
  return value >= 0 && value < Infinity;
}

interface JoinedClass {
  F: number;
  expected: number;
}

function joinClasses(
  histogram: readonly number[],
  classes: readonly number[],
  s: number,
): JoinedClass[] {
  const joined: JoinedClass[] = [];
  let open: JoinedClass = { F: 0, expected: 0 };
  for (const [i, F] of histogram.entries()) {
    open = { F: open.F + F, expected: open.expected + s * classes[i] };
    if (open.expected < EXPECTED_AT_LEAST) continue;
    joined.push(open);
    open = { F: 0, expected: 0 };
  }
  const last = joined.at(-1);
  if (!last) return [open];
  last.F += open.F;
  last.expected += open.expected;
  return joined;
}

/** Returns the exact probability that one row of uniform p-values is outside the interval of §4.2.1. */
function outsideProbability({ sequences: m, interval: [low, high] }: JudgedRow): number {
  const fewestPasses = Math.ceil(low * m);
  const mostPasses = Math.floor(high * m);
  const tooFewPasses = binomialUpper(Math.min(m, m - fewestPasses + 1), m, ALPHA);
  const tooMany = mostPasses >= m ? 0 : binomialLower(m - mostPasses - 1, m, ALPHA);
  return tooFewPasses + tooMany;
}

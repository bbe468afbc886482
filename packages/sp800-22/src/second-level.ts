/**
 * The second level: judges a source by the p-values of many sequences. SP 800-22 Rev. 1a §4.2: the
 * proportion of sequences that pass (§4.2.1) and the uniformity of the p-values (§4.2.2).
 *
 * Counting and judging are separate, so a run of any length needs only the memory of its counts.
 */
import { binomialLower, binomialUpper } from './binomial.ts';
import { P_VALUE_LABELS } from './labels.ts';
import { ALPHA } from './pass-rule.ts';
import { assertInteger } from './result.ts';
import { igamc } from './special-functions.ts';
import { TEST_NAMES, type TestName } from './suite.ts';

/** §4.2.2: the second level needs at least this many sequences. */
export const SECOND_LEVEL_MINIMUM_SEQUENCES = 55;

/** §4.2.2: below this P-value_T the standard calls the p-values of one row not uniform. */
export const UNIFORMITY_ALPHA = 1e-4;

/**
 * The share of sound sources that the verdict may fail. The standard's own limits are for one row: of
 * all sound sources, 97 % have one of 188 rows outside ±3σ with 55 or 100 sequences, 49 % with 300, 47 %
 * with 1,000 and 36 % with 5,000.
 */
export const FAMILY_ALPHA = 0.01;

/** §4.2.2: number of classes of the histogram, each 0.1 wide. */
const CLASSES = 10;

/** The p-values of one row, such as `cumulative_sums` `forward`, counted over the sequences. */
export interface RowCounts {
  readonly test: TestName;
  /** Position of the p-value within its test, from 1. */
  readonly index: number;
  readonly label: string;
  /** Number of sequences to which the test applied. */
  readonly sequences: number;
  /** Number of sequences with p ≥ `ALPHA`. */
  readonly passes: number;
  /** Number of p-values in [0, 0.1), [0.1, 0.2) … [0.9, 1]. */
  readonly histogram: readonly number[];
}

export interface UnjudgedRow extends RowCounts {
  readonly judged: false;
  readonly reason: string;
}

export interface JudgedRow extends RowCounts {
  readonly judged: true;
  readonly proportion: number;
  /** §4.2.1: 1 − α ± 3 √(α (1 − α) / m), at most 1. */
  readonly interval: readonly [number, number];
  readonly inInterval: boolean;
  /** Exact two-sided probability of a count of passes at least this far from its expectation. */
  readonly proportionP: number;
  /** §4.2.2: P-value_T. */
  readonly uniformityP: number;
  /** True if P-value_T is at least `UNIFORMITY_ALPHA`. */
  readonly uniform: boolean;
  /** True if both probabilities are at least `checkAlpha`. */
  readonly passed: boolean;
}

export type SecondLevelRow<Row extends RowCounts = RowCounts> = Row & (JudgedRow | UnjudgedRow);

export interface SecondLevelVerdict<Row extends RowCounts = RowCounts> {
  readonly judged: true;
  readonly familyAlpha: number;
  /** Number of checks: two per judged row. */
  readonly checks: number;
  /** A row fails if one of its two probabilities is below this: `familyAlpha` / `checks`. */
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
export interface NoSecondLevel {
  readonly judged: false;
  readonly reason: string;
}

export type SecondLevel<Row extends RowCounts = RowCounts> =
  | SecondLevelVerdict<Row>
  | NoSecondLevel;

/** The part of a `SuiteReport` that holds the p-values. */
export interface PValueReport {
  readonly tests: readonly (
    | { readonly name: TestName; readonly applicable: false }
    | { readonly name: TestName; readonly applicable: true; readonly pValues: readonly number[] }
  )[];
}

/** Counts p-values, sequence by sequence. */
export class PValueTally {
  readonly #rows: ReadonlyMap<TestName, Mutable<RowCounts>[]>;
  #sequences = 0;

  /** `tests` are the tests of the reports to count. */
  constructor(tests: readonly TestName[] = TEST_NAMES) {
    this.#rows = new Map(tests.map((test) => [test, emptyRows(test)]));
  }

  /** Counts one report. Throws `RangeError` on a test that is not counted or has another number of p-values. */
  add(report: PValueReport): void {
    for (const outcome of report.tests) {
      const rows = this.#rows.get(outcome.name);
      if (!rows) throw new RangeError(`"report" has a test not counted here: ${outcome.name}`);
      if (!outcome.applicable) continue;
      assertInteger(`${outcome.name} p-values`, outcome.pValues.length, rows.length, rows.length);
      for (const [i, p] of outcome.pValues.entries()) count(rows[i], p);
    }
    this.#sequences++;
  }

  get sequences(): number {
    return this.#sequences;
  }

  /** The counts, in the order of the tests and their p-values. */
  get rows(): readonly RowCounts[] {
    return [...this.#rows.values()].flat();
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly number[] ? number[] : T[K] };

function emptyRows(test: TestName): Mutable<RowCounts>[] {
  return P_VALUE_LABELS[test].map((label, i) => ({
    test,
    index: i + 1,
    label,
    sequences: 0,
    passes: 0,
    histogram: new Array<number>(CLASSES).fill(0),
  }));
}

function count(row: Mutable<RowCounts>, p: number): void {
  row.sequences++;
  if (p >= ALPHA) row.passes++;
  row.histogram[Math.min(CLASSES - 1, Math.floor(p * CLASSES))]++;
}

/**
 * Judges a source by the counts of `sequences` sequences. Other properties of a row are kept.
 *
 * Each row has two checks. A check fails if its probability is below `FAMILY_ALPHA` divided by the number
 * of checks (Bonferroni: the rows need not be independent). The source passes if every check passes. A
 * row of a test that applied to fewer than 55 sequences is not judged.
 */
export function judgeSecondLevel<Row extends RowCounts>(
  sequences: number,
  rows: readonly Row[],
): SecondLevel<Row> {
  if (sequences < SECOND_LEVEL_MINIMUM_SEQUENCES) {
    return { judged: false, reason: tooFew(sequences) };
  }
  const countJudged = rows.filter(isEnough).length;
  if (countJudged === 0) {
    return { judged: false, reason: 'no test applied to enough of the sequences' };
  }
  const checks = 2 * countJudged;
  const checkAlpha = FAMILY_ALPHA / checks;
  const judgements = rows.map((row) => judgeRow(row, checkAlpha));
  const judged = judgements.filter((row) => row.judged);
  const rowsFailed = judged.filter((row) => !row.passed).length;
  return {
    judged: true,
    familyAlpha: FAMILY_ALPHA,
    checks,
    checkAlpha,
    rows: judgements,
    rowsJudged: countJudged,
    rowsFailed,
    rowsOutsideInterval: judged.filter((row) => !row.inInterval).length,
    expectedOutsideInterval: judged.reduce((sum, row) => sum + outsideProbability(row), 0),
    rowsNotUniform: judged.filter((row) => !row.uniform).length,
    passed: rowsFailed === 0,
  };
}

function isEnough({ sequences }: RowCounts): boolean {
  return sequences >= SECOND_LEVEL_MINIMUM_SEQUENCES;
}

function tooFew(sequences: number): string {
  return `needs at least ${SECOND_LEVEL_MINIMUM_SEQUENCES} sequences, got ${sequences}`;
}

function judgeRow<Row extends RowCounts>(row: Row, checkAlpha: number): SecondLevelRow<Row> {
  if (!isEnough(row)) return { ...row, judged: false, reason: tooFew(row.sequences) };
  const { sequences, passes, histogram } = row;
  const proportion = passes / sequences;
  const interval = proportionInterval(sequences);
  const proportionP = proportionProbability(passes, sequences);
  const uniformityP = uniformityPValue(histogram);
  return {
    ...row,
    judged: true,
    proportion,
    interval,
    inInterval: proportion >= interval[0] && proportion <= interval[1],
    proportionP,
    uniformityP,
    uniform: uniformityP >= UNIFORMITY_ALPHA,
    passed: Math.min(proportionP, uniformityP) >= checkAlpha,
  };
}

/** §4.2.1: returns p̂ ± 3 √(p̂ (1 − p̂) / m) with p̂ = 1 − α, at most 1, because no proportion exceeds 1. */
export function proportionInterval(m: number): readonly [number, number] {
  assertInteger('m', m, 1, Number.MAX_SAFE_INTEGER);
  const halfWidth = 3 * Math.sqrt((ALPHA * (1 - ALPHA)) / m);
  return [1 - ALPHA - halfWidth, Math.min(1, 1 - ALPHA + halfWidth)];
}

/**
 * Returns the probability that a sound source has a count of passes at least this far from its
 * expectation: twice the smaller exact tail. (The normal interval of §4.2.1 assumes 0.13 % of the rows
 * below it; at m = 100 there are 1.8 %.)
 */
export function proportionProbability(passes: number, m: number): number {
  const failures = m - passes;
  const tail = Math.min(binomialLower(failures, m, ALPHA), binomialUpper(failures, m, ALPHA));
  return Math.min(1, 2 * tail);
}

/**
 * §4.2.2: returns P-value_T = igamc(9/2, χ²/2), χ² = Σ (F_i − s/10)² / (s/10), for s p-values.
 * The NIST program divides s by 10 in integers; here s/10 is exact.
 */
export function uniformityPValue(histogram: readonly number[]): number {
  assertInteger('histogram length', histogram.length, CLASSES, CLASSES);
  const s = histogram.reduce((sum, F) => sum + F, 0);
  assertInteger('histogram sum', s, 1, Number.MAX_SAFE_INTEGER);
  const expected = s / CLASSES;
  const chi2 = histogram.reduce((sum, F) => sum + (F - expected) ** 2 / expected, 0);
  return igamc((CLASSES - 1) / 2, chi2 / 2);
}

/** Returns the exact probability that one row of a sound source is outside the interval of §4.2.1. */
function outsideProbability({ sequences: m, interval: [low, high] }: JudgedRow): number {
  const fewestPasses = Math.ceil(low * m);
  const mostPasses = Math.floor(high * m);
  const tooFewPasses = binomialUpper(Math.min(m, m - fewestPasses + 1), m, ALPHA);
  const tooMany = mostPasses >= m ? 0 : binomialLower(m - mostPasses - 1, m, ALPHA);
  return tooFewPasses + tooMany;
}

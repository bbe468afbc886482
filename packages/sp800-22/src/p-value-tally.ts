/**
 * Counts the p-values of many sequences for the second level. Counting and judging are separate, so a run of any length
 * needs only the memory of its counts.
 */

import { assertInteger, assertNames, assertObject, assertRows } from './arguments.ts';
import { TEST_NAMES } from './catalogue.ts';
import { ROWS, type RowName, rowLabels } from './labels.ts';
import { CLASSES, classOf } from './p-value-laws.ts';
import type { TestParameters } from './parameters.ts';
import { ALPHA } from './pass-rule.ts';

/** The p-values of one row, such as `cumulative_sums` `forward`, counted over the sequences. */
export interface RowCounts<Name extends RowName = RowName> {
  readonly test: Name;
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

/** The part of a `SuiteReport` that holds the p-values. */
export interface PValueReport {
  readonly tests: readonly (
    | { readonly name: RowName; readonly applicable: false }
    | { readonly name: RowName; readonly applicable: true; readonly pValues: readonly number[] }
  )[];
}

/** Counts p-values, sequence by sequence. */
export class PValueTally {
  readonly #rows: ReadonlyMap<RowName, Mutable<RowCounts>[]>;
  #sequences = 0;

  /** `tests` are the tests of the reports to count, on sequences of `n` bits with these parameters. */
  constructor(
    tests: readonly RowName[] = TEST_NAMES,
    n = 2 ** 20,
    parameters: TestParameters = {},
  ) {
    assertNames('tests', tests, ROWS);
    this.#rows = new Map(
      tests.map((test) => [test, emptyRows(test, rowLabels(test, n, parameters))]),
    );
  }

  /** Counts one report. Throws `RangeError` on a test that is not counted or has another number of p-values. */
  add(report: PValueReport): void {
    assertObject('report', report, 'tests');
    assertRows('report.tests', report.tests, 'name', 'applicable');
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

function emptyRows(test: RowName, labels: readonly string[]): Mutable<RowCounts>[] {
  return labels.map((label, i) => ({
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
  row.histogram[classOf(p)]++;
}

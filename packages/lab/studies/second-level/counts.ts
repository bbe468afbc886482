/** Counts of the p-values of sound sequences, by length and by entry of the table of limits. */
import { TEST_NAMES, type TestName } from '../../../sp800-22/src/index-node.ts';
import { CLASSES } from '../../../sp800-22/src/p-value-laws.ts';
import { limitKey } from '../../../sp800-22/src/second-level-limits.ts';
import { BELOW_ALPHA, INAPPLICABLE, labelsOf } from './classes.ts';

/** P-values of one entry; rows with the same law are added up. */
export interface LawCounts {
  readonly test: TestName;
  sequences: number;
  /** Number of p-values below 0.01. */
  below: number;
  classes: number[];
}

/** Counts of one length, by entry. */
export type LengthCounts = Record<string, LawCounts>;

/** Adds a row of sequences of `n` bits. */
export function addRow(
  counts: LengthCounts,
  n: number,
  test: TestName,
  label: string,
  row: { sequences: number; below: number; classes: readonly number[] },
): void {
  if (row.sequences === 0) return;
  const key = limitKey({ test, label, index: 1 }, n);
  counts[key] ??= { test, sequences: 0, below: 0, classes: new Array<number>(CLASSES).fill(0) };
  counts[key].sequences += row.sequences;
  counts[key].below += row.below;
  counts[key].classes = counts[key].classes.map((count, i) => count + row.classes[i]);
}

/** Counts the rows of one test among the sequences from `from` to `to`. */
export function countRows(saved: Uint8Array, test: TestName, n: number, from: number, to: number) {
  const width = labelsOf(test, n).length;
  return labelsOf(test, n).map((label, column) => {
    const tally = new Uint32Array(256);
    for (let i = from; i < to; i++) tally[saved[i * width + column]]++;
    const classes = Array.from(tally.slice(0, CLASSES));
    classes[0] += tally[BELOW_ALPHA];
    const sequences = to - from - tally[INAPPLICABLE];
    return { test, index: column + 1, label, sequences, below: tally[BELOW_ALPHA], classes };
  });
}

/** Adds the saved rows of docs/evidence/rates: 188 rows in the order of the suite. */
export function addSavedRows(
  counts: LengthCounts,
  n: number,
  rows: readonly { sequences: number; passes: number; histogram: readonly number[] }[],
): void {
  const labels = TEST_NAMES.flatMap((test) => labelsOf(test, n).map((label) => ({ test, label })));
  for (const [i, { sequences, passes, histogram }] of rows.entries()) {
    const below = sequences - passes;
    addRow(counts, n, labels[i].test, labels[i].label, { sequences, below, classes: histogram });
  }
}

/** Verdicts on sound files: consecutive sequences, m per file, judged as `phm assess` judges them. */
import {
  FAMILY_ALPHA,
  judgeSecondLevel,
  NIST_PARAMETERS,
  type RowCounts,
  type SecondLevelVerdict,
  type TestName,
} from '../../../sp800-22/src/index-node.ts';
import { labelsOf } from './classes.ts';
import { countRows } from './counts.ts';

export interface FileCounts {
  readonly bits: number;
  /** Sequences per file. */
  readonly m: number;
  readonly files: number;
  readonly failed: number;
  /** Files that fail if p-values are taken as uniform. */
  readonly failedUniform: number;
  /** Failed rows by test. */
  readonly failedRows: Readonly<Record<string, number>>;
  /** Judged and possible checks of the first file. */
  readonly checks: number;
  readonly possibleChecks: number;
}

/** Judges as many files as the saved sequences make. */
export function judgeFiles(
  saved: ReadonlyMap<TestName, Uint8Array>,
  bits: number,
  m: number,
): FileCounts {
  const sequences = [...saved].map(([test, codes]) => codes.length / labelsOf(test, bits).length);
  const files = Math.floor(Math.min(...sequences) / m);
  const failedRows: Record<string, number> = {};
  let [failed, failedUniform, checks, possibleChecks] = [0, 0, 0, 0];
  for (let file = 0; file < files; file++) {
    const rows = [...saved].flatMap(([test, codes]) =>
      countRows(codes, test, bits, file * m, (file + 1) * m).map(toRow),
    );
    const verdict = judgeSecondLevel(m, rows, bits, NIST_PARAMETERS);
    if (!verdict.judged) continue;
    if (file === 0) [checks, possibleChecks] = [verdict.checks, 2 * rows.length];
    if (!verdict.passed) failed++;
    if (rowsFailedUniform(verdict) > 0) failedUniform++;
    for (const row of verdict.rows) {
      if (row.judged && !row.passed) failedRows[row.test] = (failedRows[row.test] ?? 0) + 1;
    }
  }
  return { bits, m, files, failed, failedUniform, failedRows, checks, possibleChecks };
}

/** Returns the number of rows that fail if p-values are taken as uniform at every length. */
export function rowsFailedUniform({ rows }: SecondLevelVerdict): number {
  const judged = rows.filter((row) => row.judged);
  const checkAlpha = FAMILY_ALPHA / (2 * judged.length);
  return judged.filter((row) => Math.min(row.proportionP, row.uniformityP) < checkAlpha).length;
}

type CountedRow = ReturnType<typeof countRows>[number];

function toRow({ test, index, label, sequences, below, classes }: CountedRow): RowCounts {
  return { test, index, label, sequences, passes: sequences - below, histogram: classes };
}

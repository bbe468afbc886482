/**
 * What the samples of many keys say of their source: the second level of SP 800-22 §4.2, as the JSON that
 * clients read. It is made here, in the statistics worker, because it may hold 188,000 numbers.
 *
 * Only keys that were released are looked at. Their samples passed the gate, which sound ones fail about
 * twice in a million times: too seldom to show in a thousand.
 */
import { formatTimestamp } from '../clock.ts';
import type { ValidatedKey } from '../ledger/index.ts';
import {
  ALPHA,
  type JudgedRow,
  judgeSecondLevel,
  type PValueReport,
  PValueTally,
  type RowCounts,
  type SecondLevelRow,
} from '../sts/index.ts';
import { STREAM_LABELS } from './evidence.ts';
import { unpackPValues } from './p-values.ts';

/** Which keys, and whether each p-value is told. */
export interface RandomnessQuery {
  readonly accountId: string;
  readonly keys: number;
  readonly withPValues: boolean;
}

/** The member `randomness` of the answer. `keys` are in the order of time. */
export function describeRandomness(keys: readonly ValidatedKey[], withPValues: boolean): object {
  const reports = keys.map(({ pValues }) => unpackPValues(pValues));
  const tally = new PValueTally();
  for (const report of reports) tally.add(report);
  const secondLevel = judgeSecondLevel(tally.sequences, tally.rows);
  const rows = secondLevel.judged ? secondLevel.rows : tally.rows;
  const [first, last] = [keys[0], keys.at(-1)];
  return {
    keys: keys.length,
    first: first ? formatTimestamp(first.atMs) : null,
    last: last ? formatTimestamp(last.atMs) : null,
    significance_level: ALPHA,
    rows: rows.map((row) => ({
      ...describeRow(row),
      ...(withPValues && { p_values: reports.map((report) => pValueOf(row, report)) }),
    })),
  };
}

function describeRow(row: RowCounts | SecondLevelRow): object {
  const { test, index, sequences, histogram, passes } = row;
  return {
    test,
    label: STREAM_LABELS[test][index - 1],
    samples: sequences,
    histogram,
    passed: passes,
    ...('judged' in row && row.judged ? describeJudgement(row) : NO_JUDGEMENT),
  };
}

const NO_JUDGEMENT = {
  uniformity_p: null,
  proportion: null,
  proportion_min: null,
  proportion_max: null,
  verdict: null,
};

function describeJudgement(row: JudgedRow): Record<keyof typeof NO_JUDGEMENT, unknown> {
  return {
    uniformity_p: row.uniformityP,
    proportion: row.proportion,
    proportion_min: row.interval[0],
    proportion_max: row.interval[1],
    verdict: row.passed ? 'pass' : 'fail',
  };
}

function pValueOf({ test, index }: RowCounts, { tests }: PValueReport): number | null {
  const outcome = tests.find(({ name }) => name === test);
  return outcome?.applicable ? (outcome.pValues[index - 1] ?? null) : null;
}

/**
 * What the samples of many keys say of their source: the second level of SP 800-22 §4.2, as the JSON that
 * clients read. It is made here, in the statistics worker, because it may hold 192,000 numbers.
 *
 * Only keys that were released are looked at. Their samples passed the gate, which sound ones fail a few
 * times in a million: too seldom to show in a thousand.
 */
import {
  ALPHA,
  type JudgedRow,
  judgeSecondLevel,
  P_VALUE_LABELS,
  PValueTally,
  type RowCounts,
  type SecondLevelRow,
} from '#sp800-22';
import { formatTimestamp } from '../clock.ts';
import { EVIDENCE_DEFINITION } from '../keys/evidence.ts';
import {
  STREAM_NAMES,
  STREAM_TESTS,
  type StreamName,
  type StreamPValues,
  unpackPValues,
} from '../keys/p-values.ts';
import type { KeyEvidence } from '../ledger/index.ts';

/** Which keys, and whether each p-value is told. */
export interface RandomnessQuery {
  readonly accountId: string;
  /** The last so many are looked at. Those whose evidence has another definition are left out. */
  readonly keys: number;
  readonly withPValues: boolean;
}

/** One p-value of one stream, counted over the keys. */
interface StreamRow extends RowCounts {
  readonly stream: StreamName;
}

/** The same, judged where there are keys enough. */
type JudgedStreamRow = StreamRow | SecondLevelRow<StreamRow>;

/** The member `randomness` of the answer. `keys` are in the order of time. */
export function describeRandomness(keys: readonly KeyEvidence[], withPValues: boolean): object {
  const known = keys.filter(({ definition }) => definition === EVIDENCE_DEFINITION);
  const reports = known.map(({ pValues }) => unpackPValues(pValues));
  const rows = judgeRows(reports);
  const [first, last] = [known[0], known.at(-1)];
  return {
    keys: known.length,
    first: first ? formatTimestamp(first.atMs) : null,
    last: last ? formatTimestamp(last.atMs) : null,
    significance_level: ALPHA,
    rows: rows.map((row) => ({
      ...describeRow(row),
      ...(withPValues && { p_values: reports.map((report) => pValueOf(row, report)) }),
    })),
  };
}

/** The rows of both streams as one family: its correction counts them all. */
function judgeRows(reports: readonly StreamPValues[]): readonly JudgedStreamRow[] {
  const rows = STREAM_NAMES.flatMap((stream): StreamRow[] => {
    const tally = new PValueTally(STREAM_TESTS[stream]);
    for (const report of reports) tally.add(report[stream]);
    return tally.rows.map((row) => ({ ...row, stream }));
  });
  const secondLevel = judgeSecondLevel(reports.length, rows);
  return secondLevel.judged ? secondLevel.rows : rows;
}

function describeRow(row: JudgedStreamRow): object {
  const { stream, test, index, sequences, histogram, passes } = row;
  return {
    stream,
    test,
    label: P_VALUE_LABELS[test][index - 1],
    samples: sequences,
    histogram,
    passed: passes,
    ...('judged' in row && row.judged ? describeVerdict(row) : NO_VERDICT),
  };
}

const NO_VERDICT = {
  uniformity_p: null,
  proportion: null,
  proportion_min: null,
  proportion_max: null,
  verdict: null,
};

function describeVerdict(row: JudgedRow): Record<keyof typeof NO_VERDICT, unknown> {
  return {
    uniformity_p: row.uniformityP,
    proportion: row.proportion,
    proportion_min: row.interval[0],
    proportion_max: row.interval[1],
    verdict: row.passed ? 'pass' : 'fail',
  };
}

function pValueOf({ stream, test, index }: StreamRow, reports: StreamPValues): number | null {
  const outcome = reports[stream].tests.find(({ name }) => name === test);
  return outcome?.applicable ? (outcome.pValues[index - 1] ?? null) : null;
}

/**
 * What the samples of many keys say of their source: the second level of SP 800-22 §4.2.
 *
 * Only keys that were released are looked at. Their samples passed the gate, which sound ones fail a few
 * times in a million: too seldom to show in a thousand.
 */
import { judgeSecondLevel, PValueTally, type RowCounts, type SecondLevelRow } from '#sp800-22';
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

export type RandomnessRow = JudgedStreamRow & {
  /** One a key, oldest first, if they were asked for; NaN where the test did not apply. */
  readonly pValues?: Float64Array<ArrayBuffer>;
};

/** What was found, and on which keys. */
export interface Randomness {
  readonly keys: number;
  /** When the oldest and the newest of them were recorded; null without keys. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  readonly rows: readonly RandomnessRow[];
}

/** Judges the evidence of keys, which are in the order of time. */
export function judgeRandomness(keys: readonly KeyEvidence[], withPValues: boolean): Randomness {
  const known = keys.filter(({ definition }) => definition === EVIDENCE_DEFINITION);
  const reports = known.map(({ pValues }) => unpackPValues(pValues));
  const rows = judgeRows(reports);
  return {
    keys: known.length,
    firstMs: known[0]?.atMs ?? null,
    lastMs: known.at(-1)?.atMs ?? null,
    rows: withPValues ? rows.map((row) => ({ ...row, pValues: pValuesOf(row, reports) })) : rows,
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

/** As numbers in a buffer, which cross threads by transfer: there may be 192,000 of them. */
function pValuesOf(
  { stream, test, index }: StreamRow,
  reports: readonly StreamPValues[],
): Float64Array<ArrayBuffer> {
  return Float64Array.from(reports, (report) => {
    const outcome = report[stream].tests.find(({ name }) => name === test);
    return (outcome?.applicable ? outcome.pValues[index - 1] : undefined) ?? Number.NaN;
  });
}

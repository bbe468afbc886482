/**
 * Judges a generator by the samples of many keys: the second level of SP 800-22 §4.2.
 *
 * It uses only released keys, whose samples passed the gate. Sound samples fail the gate a few times in a million, too
 * rarely to bias the result for a thousand keys.
 */
import { judgeSecondLevel, NIST_PARAMETERS, type RowCounts, type SecondLevelRow } from '#sp800-22';
import { EVIDENCE_DEFINITION } from '../../keys/evidence.ts';
import { type EvidenceTest, evidenceTally } from '../../keys/evidence-suite.ts';
import {
  STREAM_NAMES,
  STREAM_TESTS,
  type StreamName,
  type StreamPValues,
  unpackPValues,
} from '../../keys/p-values.ts';
import { SAMPLE_BITS } from '../../keys/sample.ts';
import type { KeyEvidence } from '../../ledger/index.ts';

/** Selects keys, and whether the result includes each p-value. */
export interface RandomnessQuery {
  readonly accountId: string;
  /** Number of latest keys. Keys whose evidence has another definition are left out. */
  readonly keys: number;
  readonly withPValues: boolean;
}

/** Counts of one p-value of one stream over the keys. */
interface StreamRow extends RowCounts<EvidenceTest> {
  readonly stream: StreamName;
}

/** The same, judged if there are enough keys. */
type JudgedStreamRow = StreamRow | SecondLevelRow<StreamRow>;

export type RandomnessRow = JudgedStreamRow & {
  /** If requested: one p-value for each key, oldest first; NaN if the test did not apply. */
  readonly pValues?: Float64Array<ArrayBuffer>;
};

/** Result and the keys behind it. */
export interface Randomness {
  readonly keys: number;
  /** Times at which the oldest and the newest key were recorded; null without keys. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  readonly rows: readonly RandomnessRow[];
}

/** Judges the evidence of keys. They must be in order of time. */
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

/** Judges the rows of both streams as one family, so that the correction counts all of them. */
function judgeRows(reports: readonly StreamPValues[]): readonly JudgedStreamRow[] {
  const rows = STREAM_NAMES.flatMap((stream): StreamRow[] => {
    const tally = evidenceTally(STREAM_TESTS[stream]);
    for (const report of reports) tally.add(report[stream]);
    // A tally of tests has no rows of supplements.
    return tally.rows.map((row) => ({ ...row, test: row.test as EvidenceTest, stream }));
  });
  const secondLevel = judgeSecondLevel(reports.length, rows, SAMPLE_BITS, NIST_PARAMETERS);
  return secondLevel.judged ? secondLevel.rows : rows;
}

/** Returns p-values in a buffer, which can be transferred between threads: there may be 192,000 of them. */
function pValuesOf(
  { stream, test, index }: StreamRow,
  reports: readonly StreamPValues[],
): Float64Array<ArrayBuffer> {
  return Float64Array.from(reports, (report) => {
    const outcome = report[stream].tests.find(({ name }) => name === test);
    return (outcome?.applicable ? outcome.pValues[index - 1] : undefined) ?? Number.NaN;
  });
}

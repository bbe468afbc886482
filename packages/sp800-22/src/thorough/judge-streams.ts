/**
 * The verdict on long streams: the source fails if the smallest of all p-values, times their number, is below α.
 *
 * Bonferroni needs no independence, so at most α of sound sources fail, as far as each p-value is super-uniform: that is
 * proved for most, and approximate for the tests of the suite (docs/statistical-tests.md).
 */
import { assertRows } from '../arguments.ts';
import type { LongStreamName, LongStreamReport, LongStreamResult } from './long-stream.ts';

/** Our choice: a tenth of the rate of the second level, because these tests come on top of it. */
const LONG_STREAM_ALPHA = 0.001;

export interface LongStreams {
  readonly streams: number;
  /** Bits of the longest. */
  readonly bits: number;
  /** The p-values of all streams. */
  readonly pValues: number;
  /** min(1, their number · the smallest). */
  readonly p: number;
  readonly alpha: number;
  readonly passed: boolean;
  readonly tests: readonly LongStreamTest[];
}

/** A test with its smallest p-value in any stream. */
export interface LongStreamTest extends LongStreamResult {
  readonly name: LongStreamName;
  /** The number of that stream, from 1. */
  readonly stream: number;
  /** Whether this p-value times the number of all is at least α. */
  readonly passed: boolean;
}

/** Returns the verdict on all streams of a source, which passes without any. */
export function judgeLongStreams(reports: readonly LongStreamReport[]): LongStreams {
  assertRows('reports', reports, 'bits', 'results');
  const all = reports.flatMap(({ results }, i) =>
    results.map((one) => ({ ...one, stream: i + 1 })),
  );
  const smallest = new Map<LongStreamName, (typeof all)[number]>();
  for (const one of all) {
    if (one.p < (smallest.get(one.name)?.p ?? Number.POSITIVE_INFINITY))
      smallest.set(one.name, one);
  }
  const correctedP = (p: number): number => Math.min(1, Math.max(1, all.length) * p);
  const tests = [...smallest.values()].map((one) => ({
    ...one,
    passed: correctedP(one.p) >= LONG_STREAM_ALPHA,
  }));
  const p = correctedP(Math.min(1, ...tests.map((test) => test.p)));
  return {
    streams: reports.length,
    bits: Math.max(0, ...reports.map(({ bits }) => bits)),
    pValues: all.length,
    p,
    alpha: LONG_STREAM_ALPHA,
    passed: p >= LONG_STREAM_ALPHA,
    tests,
  };
}

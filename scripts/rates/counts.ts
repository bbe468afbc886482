/** Counts over many judged streams: plain numbers that can be saved and added. */
import {
  complianceLevel,
  gate,
  judgeSecondLevel,
  NIST_PARAMETERS,
  type PValueReport,
  type PValueTally,
  type RowCounts,
  type SuiteReport,
  type TestName,
  testLevelP,
} from '#sp800-22';
import { evidenceTally } from '../../src/keys/evidence-suite.ts';
import { STREAM_TESTS } from '../../src/keys/p-values.ts';
import { SAMPLE_BITS } from '../../src/keys/sample.ts';
import { MODULATED, type Modulated, type StreamReports } from './streams.ts';

/** Levels of a test's corrected p-value at which rejections are counted. */
export const TEST_LEVELS = [1e-2, 1e-3, 1e-4, 1e-5];

/** Levels of the gate's p-value. The last one is the gate's own. */
export const GATE_LEVELS = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

/** The four tests that judge both carrier and modulated stream. */
export const PAIRED_TESTS = STREAM_TESTS.modulated;

/** Streams per second-level verdict, as many as in the service. */
export const GROUP = 1_000;

/** One test: the number of streams it applied to, and how many were below each of `TEST_LEVELS`. */
export interface TestCounts {
  applied: number;
  below: number[];
}

/** One row of the second level. */
export type Row = Pick<RowCounts, 'sequences' | 'passes' | 'histogram'>;

/** p-values of one test on carrier (x) and modulated stream (y). */
export interface PairCounts {
  n: number;
  x: number;
  y: number;
  xx: number;
  yy: number;
  xy: number;
  equal: number;
  bothBelowAlpha: number;
}

/** Verdicts of the gate under one modulation; under `none`, on the carriers alone. */
export interface GateCounts {
  streams: number;
  /** Number of streams by the number k of tests. */
  tests: Record<string, number>;
  /** Number of streams below each of `GATE_LEVELS`. */
  below: number[];
  /** The same, by the test with the smallest p-value, such as `modulated runs`. */
  weakest: Record<string, number[]>;
  smallest: number;
  review: number;
}

export interface ModulatedCounts {
  tests: Record<string, TestCounts>;
  pairs: Record<string, PairCounts>;
  rows: Row[];
  /** Second levels of `GROUP` streams each, with 192 rows. */
  groups: { judged: number; failed: number; rowsOutside: number; rowsNotUniform: number };
}

export interface Counts {
  streams: number;
  /** Processor time. */
  seconds: number;
  carrier: Record<string, TestCounts>;
  rows: Row[];
  gates: Record<string, GateCounts>;
  modulated: Record<string, ModulatedCounts>;
}

/** Counts the next `GROUP` streams. */
export function countGroup(next: () => StreamReports): Counts {
  const start = process.threadCpuUsage();
  const counts: Counts = {
    streams: GROUP,
    seconds: 0,
    carrier: emptyTests(STREAM_TESTS.carrier),
    rows: [],
    gates: {},
    modulated: {},
  };
  const tallies = { carrier: evidenceTally(), modulated: new Map<Modulated, PValueTally>() };
  for (let i = 0; i < GROUP; i++) countStream(counts, tallies, next());
  counts.rows = tallies.carrier.rows.map(toRow);
  for (const [type, { rows }] of tallies.modulated) {
    counts.modulated[type].rows = rows.map(toRow);
    counts.modulated[type].groups = judgeGroup([...tallies.carrier.rows, ...rows]);
  }
  const { user, system } = process.threadCpuUsage(start);
  counts.seconds = (user + system) / 1e6;
  return counts;
}

/** P-values of a group, for its second level. */
interface Tallies {
  readonly carrier: PValueTally;
  readonly modulated: Map<Modulated, PValueTally>;
}

function countStream(counts: Counts, tallies: Tallies, stream: StreamReports): void {
  const { carrier, modulated, dropped } = stream;
  countTests(counts.carrier, carrier);
  tallies.carrier.add(carrier);
  // It is unknown if a dropped carrier would have failed alone, so none is counted here.
  countGate(counts, 'none', [carrier], 0);
  for (const type of MODULATED) {
    const report = modulated[type];
    if (!report) continue;
    countGate(counts, type, [carrier, report], dropped);
    counts.modulated[type] ??= emptyModulated();
    countTests(counts.modulated[type].tests, report);
    countPairs(counts.modulated[type].pairs, carrier, report);
    const tally = tallies.modulated.get(type) ?? evidenceTally(PAIRED_TESTS);
    tally.add(report);
    tallies.modulated.set(type, tally);
  }
}

function emptyTests(names: readonly TestName[]): Record<string, TestCounts> {
  return Object.fromEntries(
    names.map((name) => [name, { applied: 0, below: TEST_LEVELS.map(() => 0) }]),
  );
}

function emptyModulated(): ModulatedCounts {
  const pair = { n: 0, x: 0, y: 0, xx: 0, yy: 0, xy: 0, equal: 0, bothBelowAlpha: 0 };
  return {
    tests: emptyTests(PAIRED_TESTS),
    pairs: Object.fromEntries(PAIRED_TESTS.map((name) => [name, { ...pair }])),
    rows: [],
    groups: { judged: 0, failed: 0, rowsOutside: 0, rowsNotUniform: 0 },
  };
}

function countTests(counts: Record<string, TestCounts>, { tests }: SuiteReport): void {
  for (const test of tests) {
    if (!test.applicable) continue;
    const { below } = counts[test.name];
    counts[test.name].applied += 1;
    countBelow(below, TEST_LEVELS, testLevelP(test.pValues));
  }
}

function countBelow(below: number[], levels: readonly number[], p: number): void {
  for (const [k, level] of levels.entries()) if (p < level) below[k] += 1;
}

/** Counts `dropped` streams, which failed the gate unseen, as below every level by an unknown test. */
function countGate(
  { gates }: Counts,
  type: string,
  reports: readonly SuiteReport[],
  dropped: number,
): void {
  gates[type] ??= {
    streams: 0,
    tests: {},
    below: GATE_LEVELS.map(() => 0),
    weakest: {},
    smallest: 1,
    review: 0,
  };
  const counts = gates[type];
  const verdict = gate(...reports);
  counts.streams += 1 + dropped;
  counts.tests[verdict.tests] = (counts.tests[verdict.tests] ?? 0) + 1;
  for (const k of GATE_LEVELS.keys()) counts.below[k] += dropped;
  countBelow(counts.below, GATE_LEVELS, verdict.p);
  if (verdict.p < GATE_LEVELS[0]) {
    const name = `${['carrier', 'modulated'][verdict.weakest.report]} ${verdict.weakest.test}`;
    counts.weakest[name] ??= GATE_LEVELS.map(() => 0);
    countBelow(counts.weakest[name], GATE_LEVELS, verdict.p);
  }
  counts.smallest = Math.min(counts.smallest, verdict.p);
  if (complianceLevel(reports[0], verdict) === 'REVIEW') counts.review += 1;
}

function countPairs(
  pairs: Record<string, PairCounts>,
  carrier: PValueReport,
  modulated: PValueReport,
): void {
  for (const name of PAIRED_TESTS) {
    const [x, y] = [pOf(carrier, name), pOf(modulated, name)];
    const pair = pairs[name];
    pair.n += 1;
    pair.x += x;
    pair.y += y;
    pair.xx += x * x;
    pair.yy += y * y;
    pair.xy += x * y;
    if (x === y) pair.equal += 1;
    if (x < TEST_LEVELS[0] && y < TEST_LEVELS[0]) pair.bothBelowAlpha += 1;
  }
}

function pOf({ tests }: PValueReport, name: TestName): number {
  const test = tests.find((one) => one.name === name);
  if (!test?.applicable) throw new Error(`${name} did not apply to a whole sample`);
  return test.pValues[0];
}

function toRow({ sequences, passes, histogram }: RowCounts): Row {
  return { sequences, passes, histogram };
}

function judgeGroup(rows: readonly RowCounts[]): ModulatedCounts['groups'] {
  const verdict = judgeSecondLevel(GROUP, rows, SAMPLE_BITS, NIST_PARAMETERS);
  if (!verdict.judged) throw new Error(verdict.reason);
  return {
    judged: 1,
    failed: verdict.passed ? 0 : 1,
    rowsOutside: verdict.rowsOutsideInterval,
    rowsNotUniform: verdict.rowsNotUniform,
  };
}

/** Adds two counts member by member; for `smallest` it takes the smaller one. */
export function addCounts(a: Counts, b: Counts): Counts {
  return add(a, b) as Counts;
}

function add(a: unknown, b: unknown, name = ''): unknown {
  if (a === undefined) return b;
  if (b === undefined) return a;
  if (typeof a === 'number' && typeof b === 'number') {
    return name === 'smallest' ? Math.min(a, b) : a + b;
  }
  if (Array.isArray(a) && Array.isArray(b)) return a.map((one, i) => add(one, b[i]));
  const [left, right] = [a, b] as Record<string, unknown>[];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return Object.fromEntries([...names].map((key) => [key, add(left[key], right[key], key)]));
}

/** The p-values of one sequence that are compared with those of others: one of each test. */
import { assertInteger, assertRows } from '../arguments.ts';
import type { RowName } from '../labels.ts';
import { erfc } from '../special-functions.ts';
import { assertReport, type SuiteReport, type TestOutcome } from '../suite.ts';
import { type GatePValue, gatePValues } from '../verdict.ts';

/** p-values of one sequence, each of one test. */
export type Entered = readonly { readonly test: RowName; readonly p: number }[];

/** One of the smallest p-values of a source. */
export interface SmallPValue {
  readonly test: RowName;
  /** Number of its sequence, from 1. */
  readonly sequence: number;
  readonly p: number;
}

/** Keeps the number of p-values and the smallest ones. Its size does not grow with the sequences. */
export class SmallestPValues {
  readonly #most: number;
  #sequences = 0;
  #pValues = 0;
  #smallest: SmallPValue[] = [];

  /** Keeps the `most` smallest p-values. */
  constructor(most = 1) {
    assertInteger('most', most, 1, Number.MAX_SAFE_INTEGER);
    this.#most = most;
  }

  /** Takes the p-values of the next sequence. */
  add(entered: Entered): void {
    assertRows('entered', entered, 'test', 'p');
    const sequence = ++this.#sequences;
    this.#pValues += entered.length;
    const all = [...this.#smallest, ...entered.map(({ test, p }) => ({ test, sequence, p }))];
    this.#smallest = all.sort((a, b) => a.p - b.p).slice(0, this.#most);
  }

  get pValues(): number {
    return this.#pValues;
  }

  /** The smallest p-values, in order. */
  get smallest(): readonly SmallPValue[] {
    return this.#smallest;
  }
}

/** Returns the p-values that enter the gate, and one for `runs` also if it was not carried out. */
export function sequencePValues(report: SuiteReport): readonly GatePValue[] {
  assertReport('report', report);
  const missed = report.tests.find(({ name }) => name === 'runs');
  const p = missed && withoutPrerequisite(missed, report.bits);
  return p === undefined
    ? gatePValues(report)
    : [...gatePValues(report), { test: 'runs' as const, p }];
}

/** §2.3.4: `runs` is not carried out from |2·ones − n| = 4 √n on. Probability that a sound sequence is so uneven. */
const MISSES_PREREQUISITE = erfc(4 / Math.SQRT2);

/**
 * Returns the p-value of `runs` if the share of ones is off; else `undefined`. The standard's 0 would fail 6 sound
 * sequences in 100,000. This is the probability of a share at least as uneven, among sound sequences that are not
 * tested for their runs: it keeps the p-values of the test uniform.
 */
function withoutPrerequisite(outcome: TestOutcome, n: number): number | undefined {
  if (!outcome.applicable || outcome.prerequisiteMet) return undefined;
  const excess = Math.abs(2 * Number(outcome.statistics.ones) - n);
  return Math.min(1, erfc(excess / Math.sqrt(2 * n)) / MISSES_PREREQUISITE);
}

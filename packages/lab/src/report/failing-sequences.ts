/** The sequences that failed a test or supplement, and the worst of all. */

import { type RowName, type SuiteReport, testLevelP } from '../../../sp800-22/src/index.ts';

/** The corrected p-value of a test of one sequence. */
interface TestResult {
  readonly name: RowName;
  readonly correctedP: number;
}

export interface SequenceResult {
  /** Position in the run, from 0. */
  readonly index: number;
  readonly failed: readonly TestResult[];
  /** The test with the smallest corrected p-value; undefined if no test applied. */
  readonly smallest: TestResult | undefined;
}

export function resultOf({ tests, supplements = [] }: SuiteReport, index: number): SequenceResult {
  const failed: TestResult[] = [];
  let smallest: TestResult | undefined;
  for (const outcome of [...tests, ...supplements]) {
    if (!outcome.applicable) continue;
    const result = { name: outcome.name, correctedP: testLevelP(outcome.pValues) };
    if (!outcome.passed) failed.push(result);
    if (smallest === undefined || result.correctedP < smallest.correctedP) smallest = result;
  }
  return { index, failed, smallest };
}

/** Sorts the worst first: the smallest corrected p-value, then the most failed tests, then the first in the run. */
export function compareResults(one: SequenceResult, other: SequenceResult): number {
  const p = ({ smallest }: SequenceResult): number => smallest?.correctedP ?? 1;
  return p(one) - p(other) || other.failed.length - one.failed.length || one.index - other.index;
}

/** Keeps the worst failing sequences, and counts all. */
export class FailingSequences {
  readonly #most: number;
  #worst: SequenceResult[] = [];
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** The number of failing sequences. */
  get count(): number {
    return this.#count;
  }

  /** The worst of them, in the order of the run. */
  get listed(): readonly SequenceResult[] {
    return [...this.#worst].sort((one, other) => one.index - other.index);
  }

  add(result: SequenceResult): void {
    if (result.failed.length === 0) return;
    this.#count++;
    this.#worst.push(result);
    this.#worst.sort(compareResults);
    if (this.#worst.length > this.#most) this.#worst.pop();
  }
}

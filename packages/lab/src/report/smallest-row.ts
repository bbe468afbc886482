/** The smallest p-value of a run, and its place in the input. */
import {
  type RowName,
  rowLabels,
  type SuiteReport,
  type SupplementOutcome,
  type TestOutcome,
} from '../../../sp800-22/src/index.ts';

/** One p-value of one sequence. */
export interface SmallestRow {
  readonly test: RowName;
  /** Position of the p-value within its test, from 1, and its label. */
  readonly index: number;
  readonly label: string;
  /** Number of its sequence, from 1. */
  readonly sequence: number;
  /** The bits of its sequence: the first one in the input, from 0, and their number. */
  readonly offset_bits: number;
  readonly bits: number;
  /** As the test gives it, not corrected. */
  readonly p: number;
}

/** Finds the smallest p-value of the tests, or of the supplements; the first of several. */
export class SmallestRows {
  #smallest: Omit<SmallestRow, 'offset_bits' | 'label'> | undefined;
  #report: Pick<SuiteReport, 'bits' | 'parameters'> | undefined;
  #sequences = 0;

  /** Takes the outcomes of the next sequence, which are of `report`. */
  add(
    outcomes: readonly (TestOutcome | SupplementOutcome)[],
    report: Pick<SuiteReport, 'bits' | 'parameters'>,
  ): void {
    const sequence = ++this.#sequences;
    this.#report = report;
    for (const outcome of outcomes) {
      if (!isCarriedOut(outcome)) continue;
      for (const [i, p] of outcome.pValues.entries()) {
        if (this.#smallest && p >= this.#smallest.p) continue;
        this.#smallest = { test: outcome.name, index: i + 1, sequence, bits: report.bits, p };
      }
    }
  }

  /** Returns the member `smallest` of a summary, if there is one. `offsetBits` are the bits before the first sequence. */
  member(offsetBits: number): { smallest?: SmallestRow } {
    if (!this.#smallest || !this.#report) return {};
    const { test, index, sequence, bits, p } = this.#smallest;
    const label = rowLabels(test, bits, this.#report.parameters)[index - 1];
    const offset_bits = offsetBits + (sequence - 1) * bits;
    return { smallest: { test, index, label, sequence, offset_bits, bits, p } };
  }
}

/** The p = 0 of `runs` without its prerequisite is only the text's convention (SP 800-22 §2.3.4). */
function isCarriedOut(
  outcome: TestOutcome | SupplementOutcome,
): outcome is Extract<TestOutcome | SupplementOutcome, { applicable: true }> {
  if (!outcome.applicable) return false;
  return !('prerequisiteMet' in outcome) || outcome.prerequisiteMet;
}

/**
 * The rule of failures of the gate in a row: the first may be chance, so another sample is drawn at once; the second is a
 * defect, and latches. `failure-tally.ts` has the rule of failures that passes interrupt.
 *
 * Each series of samples has a run of its own: those drawn for one validated key, those of one screen of a suite worker,
 * and those of a generator of plain keys.
 */

const DEFECT = 2;

export class FailuresInARow {
  #count = 0;

  /** Failures since the last pass. */
  get count(): number {
    return this.#count;
  }

  /** Takes a verdict. Returns true if the failures in a row are a defect now. */
  add(passed: boolean): boolean {
    this.#count = passed ? 0 : this.#count + 1;
    return this.#count >= DEFECT;
  }
}

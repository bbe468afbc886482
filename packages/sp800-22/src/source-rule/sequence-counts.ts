/**
 * Counts the sequences of a source whose tests as a whole are unlikely. Each sequence has one p-value: the smallest of its k
 * tests, times k. (One for each sequence, because the tests of a sequence depend on each other, and the sequences of a sound
 * source do not.) The number of sequences below a limit is then binomial.
 *
 * The p-values are asymptotic, so a sound sequence falls below a limit with another probability than the limit. `LIMITS` has
 * what that probability is at most: above what was measured with all tests at some lengths down to 10^-6
 * (docs/evidence/source-rule.md), and above the known laws of single tests. A test that is run alone needs the most: `dft` has
 * 1.7 % below 10^-2 at 1,140 bits, and `rank` 2 · 10^-9 below 10^-12 at 39,936 bits, by counting all cases.
 */
import { binomialUpper } from '../binomial.ts';
import type { Entered } from './sequence-p-values.ts';

/** A limit for the p-value of a sequence, and the most that the probability of a sound sequence to be below it is. */
interface Limit {
  readonly below: number;
  readonly probability: number;
}

export const LIMITS: readonly Limit[] = [
  { below: 1e-2, probability: 2e-2 },
  { below: 1e-3, probability: 2e-3 },
  { below: 1e-4, probability: 4e-4 },
  { below: 1e-6, probability: 2e-5 },
  { below: 1e-12, probability: 5e-9 },
];

/** The sequences below one limit. */
export interface LimitCount extends Limit {
  readonly sequences: number;
  /** The probability of so many or more, at most. */
  readonly p: number;
}

export class SequenceCounts {
  readonly #counts: number[] = LIMITS.map(() => 0);
  #sequences = 0;

  /** Takes the p-values of the next sequence. One without any does not count. */
  add(entered: Entered): void {
    if (entered.length === 0) return;
    this.#sequences++;
    const p = entered.length * entered.reduce((least, one) => Math.min(least, one.p), 1);
    for (const [i, { below }] of LIMITS.entries()) if (p < below) this.#counts[i]++;
  }

  /** Sequences that count. */
  get sequences(): number {
    return this.#sequences;
  }

  /** The counts, in the order of `LIMITS`; empty without sequences. */
  get limits(): readonly LimitCount[] {
    if (this.#sequences === 0) return [];
    return LIMITS.map(({ below, probability }, i) => {
      const sequences = this.#counts[i];
      return {
        below,
        probability,
        sequences,
        p: binomialUpper(sequences, this.#sequences, probability),
      };
    });
  }
}

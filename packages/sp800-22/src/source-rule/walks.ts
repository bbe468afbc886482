/**
 * Walks over all sequences of a source, for what is too weak for each of them: a small bias, a drift, a bit of each byte that
 * is not fair. They are not part of SP 800-22.
 *
 * The counts of `scan.ts` over a whole sequence are sums of independent fair bits, so their deviations add up to a symmetric
 * walk over the source. `walkBound` bounds how far it gets from its start, at the end of any sequence.
 */
import { walkBound } from './bounded-p-values.ts';
import { MEASURES, type Scan } from './scan.ts';

/** The walk that goes farthest. */
export interface Walk {
  readonly measure: string;
  /** The sequence, from 1, at whose end it is farthest from its start. */
  readonly sequence: number;
  /** Its distance there: ones less zeros of the measure. */
  readonly deviation: number;
  /** The steps of the whole walk. */
  readonly steps: number;
  /** min(1, the walks · the bound of the probability of such a walk). */
  readonly p: number;
}

interface Sum {
  deviation: number;
  farthest: number;
  sequence: number;
}

export class Walks {
  readonly #sums: readonly Sum[] = MEASURES.map(() => ({ deviation: 0, farthest: 0, sequence: 0 }));
  #bits = 0;

  /** Takes the scan of `sequence`, which counts from 1. */
  add({ totals, bits }: Scan, sequence: number): void {
    this.#bits += bits;
    for (const [i, sum] of this.#sums.entries()) {
      sum.deviation += 2 * totals[i] - bits / MEASURES[i].step;
      if (Math.abs(sum.deviation) <= Math.abs(sum.farthest)) continue;
      sum.farthest = sum.deviation;
      sum.sequence = sequence;
    }
  }

  /** The walk with the smallest bound; `undefined` without sequences. */
  get farthest(): Walk | undefined {
    if (this.#bits === 0) return undefined;
    const walks = this.#sums.map(({ farthest, sequence }, i): Walk => {
      const steps = this.#bits / MEASURES[i].step;
      const p = Math.min(1, MEASURES.length * walkBound(Math.abs(farthest), steps));
      return { measure: MEASURES[i].name, sequence, deviation: farthest, steps, p };
    });
    return walks.reduce((least, one) => (one.p < least.p ? one : least));
  }
}

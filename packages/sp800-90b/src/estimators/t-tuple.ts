/** The t-tuple estimate: SP 800-90B §6.3.5. */
import { power } from '../../../sp800-22/src/elementary.ts';
import {
  type Estimate,
  minEntropyOf,
  type NotApplicable,
  notApplicable,
  upperBound,
} from './_estimate.ts';
import type { TupleCounts } from './_tuple-counts.ts';

/** Step 1: least number of occurrences of the most common t-tuple. */
export const TUPLE_CUTOFF = 35;

interface TTupleEstimate extends Estimate {
  readonly t: number;
  readonly pHatMax: number;
  readonly pUpper: number;
}

/** Only the standard's worked example sets `cutoff`. */
export function tTupleEstimate(
  { length, longest, mostCommon }: TupleCounts,
  cutoff: number = TUPLE_CUTOFF,
): TTupleEstimate | NotApplicable {
  // Step 1: the longest tuples with one that occurs `cutoff` times.
  let t = 0;
  while (t < longest && mostCommon[t + 1] >= cutoff) t++;
  if (t === 0) return notApplicable(`no symbol occurs ${cutoff} times`);
  // Steps 2 and 3.
  let pHatMax = 0;
  for (let i = 1; i <= t; i++) {
    pHatMax = Math.max(pHatMax, power(mostCommon[i] / (length - i + 1), 1 / i));
  }
  // Steps 4 and 5.
  const pUpper = upperBound(pHatMax, length);
  return { applicable: true, t, pHatMax, pUpper, minEntropy: minEntropyOf(pUpper) };
}

/** The longest repeated substring (LRS) estimate: SP 800-90B §6.3.6. */
import { power } from '../../../sp800-22/src/elementary.ts';
import {
  type Estimate,
  minEntropyOf,
  type NotApplicable,
  notApplicable,
  upperBound,
} from './_estimate.ts';
import type { TupleCounts } from './_tuple-counts.ts';
import { TUPLE_CUTOFF } from './t-tuple.ts';

interface LongestRepeatedSubstringEstimate extends Estimate {
  readonly u: number;
  readonly v: number;
  readonly pHat: number;
  readonly pUpper: number;
}

/** Only the standard's worked example sets `cutoff`. */
export function longestRepeatedSubstringEstimate(
  { length, longest: v, mostCommon, equalPairs }: TupleCounts,
  cutoff: number = TUPLE_CUTOFF,
): LongestRepeatedSubstringEstimate | NotApplicable {
  // Steps 1 and 2: from the shortest tuples that never occur `cutoff` times to the longest repeated
  // ones.
  let u = 1;
  while (u <= v && mostCommon[u] >= cutoff) u++;
  if (u > v) return notApplicable(`no substring is repeated fewer than ${cutoff} times`);
  // Step 3: the probability that two W-tuples are equal, per symbol.
  let pHat = 0;
  for (let w = u; w <= v; w++) {
    const pairs = ((length - w) * (length - w + 1)) / 2;
    pHat = Math.max(pHat, power(equalPairs[w] / pairs, 1 / w));
  }
  // Step 4.
  const pUpper = upperBound(pHat, length);
  return { applicable: true, u, v, pHat, pUpper, minEntropy: minEntropyOf(pUpper) };
}

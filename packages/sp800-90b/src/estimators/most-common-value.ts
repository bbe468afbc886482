/**
 * The most common value estimate: NIST SP 800-90B, Recommendation for the Entropy Sources Used for
 * Random Bit Generation, §6.3.1. https://doi.org/10.6028/NIST.SP.800-90B
 */
import { assertInteger } from '../../../sp800-22/src/arguments.ts';
import {
  type Estimate,
  minEntropyOf,
  type NotApplicable,
  notApplicable,
  upperBound,
} from './_estimate.ts';

export interface MostCommonValueEstimate extends Estimate {
  readonly modeCount: number;
  readonly pHat: number;
  readonly pUpper: number;
}

/** Estimates on symbols below `alphabetSize`. */
export function mostCommonValueEstimate(
  symbols: Uint8Array,
  alphabetSize: number,
): MostCommonValueEstimate | NotApplicable {
  if (symbols.length < 2) return notApplicable('needs at least 2 samples');
  const counts = new Int32Array(alphabetSize);
  for (let i = 0; i < symbols.length; i++) counts[symbols[i]]++;
  return fromMode(Math.max(...counts), symbols.length);
}

function fromMode(modeCount: number, length: number): MostCommonValueEstimate {
  // Step 1: the proportion of the most common value.
  const pHat = modeCount / length;
  // Step 2.
  const pUpper = upperBound(pHat, length);
  // Step 3.
  return { applicable: true, modeCount, pHat, pUpper, minEntropy: minEntropyOf(pUpper) };
}

/**
 * Returns the min-entropy per bit, 0…1, of a sequence of `lengthBits` ≥ 2 bits with `ones` ones.
 * Throws `RangeError` if the counts are inconsistent.
 */
export function mostCommonValueMinEntropy(ones: number, lengthBits: number): number {
  assertInteger('lengthBits', lengthBits, 2, Number.MAX_SAFE_INTEGER);
  assertInteger('ones', ones, 0, lengthBits);
  return fromMode(Math.max(ones, lengthBits - ones), lengthBits).minEntropy;
}

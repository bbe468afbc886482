/** The length of the longest repeated substring test: SP 800-90B §5.2.5. */
import { expm1, log1p, power, square } from '../../../sp800-22/src/elementary.ts';
import { sharedPrefixes } from '../estimators/_suffix-array.ts';
import { ALPHA, proportionsOf } from './chi-square.ts';

export interface LongestRepeatResult {
  /** Probability that two samples are equal. */
  readonly pCollision: number;
  /** W: length of the longest substring that occurs twice. */
  readonly length: number;
  /** Pr(X ≥ 1): probability that samples with these proportions repeat W of them. */
  readonly probability: number;
  readonly passed: boolean;
}

/** Tests symbols from 0 to `alphabetSize` − 1, of which there are at least two. */
export function longestRepeatTest(symbols: Uint8Array, alphabetSize: number): LongestRepeatResult {
  const proportions = proportionsOf(symbols, alphabetSize);
  const pCollision = proportions.reduce((sum, proportion) => sum + square(proportion), 0);
  const shared = sharedPrefixes(symbols, alphabetSize);
  let length = 0;
  for (let i = 0; i < shared.length; i++) if (shared[i] > length) length = shared[i];
  const places = symbols.length - length + 1;
  const pairs = (places * (places - 1)) / 2;
  // 1 − (1 − p^W)^pairs, without the loss of digits next to 0 and 1.
  const probability = -expm1(pairs * log1p(-power(pCollision, length)));
  return { pCollision, length, probability, passed: probability >= ALPHA };
}

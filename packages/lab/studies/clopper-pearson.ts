/** Exact bounds of a probability from k of n cases (Clopper and Pearson, Biometrika 26, 1934). */
import { binomialLower, binomialUpper } from '../../sp800-22/src/binomial.ts';

/** Returns the q at which k or more of n have this probability. */
export function lowerBound(k: number, n: number, probability: number): number {
  return k === 0 ? 0 : solve((q) => binomialUpper(k, n, q) > probability);
}

/** Returns the q at which k or fewer of n have this probability. */
export function upperBound(k: number, n: number, probability: number): number {
  return k === n ? 1 : solve((q) => binomialLower(k, n, q) < probability);
}

function solve(isAbove: (q: number) => boolean): number {
  let [low, high] = [1e-12, 1 - 1e-12];
  for (let i = 0; i < 50; i++) {
    const q = (low + high) / 2;
    if (isAbove(q)) high = q;
    else low = q;
  }
  return low;
}

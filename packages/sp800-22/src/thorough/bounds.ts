/** Bounds of tail probabilities that hold at every distance. */
import { exp, exp2 } from '../elementary.ts';

/**
 * Returns an upper bound of P(|S| ≥ |sum|) for the sum S of `n` independent terms that are 1 or −1 with probability ½:
 * 2 e^(−sum² / 2n), by Hoeffding (1963), theorem 2. So it is super-uniform, whatever n is.
 */
export function signSumBound(sum: number, n: number): number {
  return Math.min(1, 2 * exp((-sum * sum) / (2 * n)));
}

/** Returns min(1, k · p): the smallest p-value of k, corrected. Super-uniform if each is (Bonferroni): no independence is needed. */
export function corrected(p: number, k: number): number {
  return Math.min(1, k * p);
}

/**
 * Returns P(L ≤ complexity) for the linear complexity L of `n` independent fair bits. Exact: 2^min(2n − 2L, 2L − 1) of the
 * 2^n sequences have complexity L > 0, and one has 0 (Rueppel, 1986).
 */
export function complexityTail(complexity: number, n: number): number {
  if (2 * complexity > n) return 1;
  return (2 * exp2(2 * complexity - n) + exp2(-n)) / 3;
}

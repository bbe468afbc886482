/** Exact tails of the tests on the walk of n fair bits: frequency, cumulative sums, runs. */

import { binomialUpper } from '../../../sp800-22/src/binomial.ts';
import { erfc } from '../../../sp800-22/src/index-node.ts';
import { judgeCumulativeSums } from '../../../sp800-22/src/tests/cumulative-sums.ts';
import { criticalValue } from './class-counts.ts';

/** Terms of a tail below this share of its sum are ignored. */
const NEGLIGIBLE = 1e-12;

/** Returns P(S_n ≥ s) for the end of the walk, s > 0. */
function endAtLeast(n: number, s: number): number {
  return binomialUpper(Math.ceil((n + s) / 2), n, 0.5);
}

/** §2.1: p = erfc(|S_n| / √(2n)). */
export function frequencyTail(n: number): (level: number) => number {
  return (level) => {
    const s = criticalValue((x) => erfc(x / Math.sqrt(2 * n)), level, 20 * Math.sqrt(n));
    return 2 * endAtLeast(n, s);
  };
}

/**
 * §2.13: one direction, z = max |S_k|. By reflection P(max S_k ≥ z) = P(S_n ≥ z) + P(S_n > z). Walks that
 * also reach −z are ignored; they are a share below 10^-6 at these levels.
 */
export function cumulativeSumsTail(n: number): (level: number) => number {
  const p = (z: number) =>
    judgeCumulativeSums(n, { S: 0, highest: Math.max(1, z), lowest: 0 }, 'exact').pValues[0];
  return (level) => {
    const z = Math.ceil(criticalValue(p, level, 20 * Math.sqrt(n)));
    return 2 * (endAtLeast(n, z) + endAtLeast(n, z + 1));
  };
}

/** §2.3: the distribution of the number of runs V, given m ones, over all m that meet the prerequisite. */
export function runsTail(n: number): (level: number) => number {
  const logFactorial = logFactorials(n);
  const logChoose = (a: number, b: number) =>
    logFactorial[a] - logFactorial[b] - logFactorial[a - b];
  // P(m ones, V runs) · 2^n: a first bit, and V runs of alternating ones and zeros.
  const logP = (m: number, V: number): number => {
    const [z, r] = [n - m, V >> 1];
    const even = logChoose(m - 1, r - 1) + logChoose(z - 1, r - 1);
    // V = 2r: twice C(m−1, r−1) C(z−1, r−1). V = 2r + 1: the same, with r in place of one r − 1.
    const factor = V % 2 === 0 ? 2 : (m - r) / r + (z - r) / r;
    return even + Math.log(factor) - n * Math.LN2;
  };
  return (level) => {
    const x = criticalValue(erfc, level, 12);
    let sum = 0;
    for (let m = n / 2; (2 * m - n) ** 2 < 16 * n; m++) {
      const spread = (m * (n - m)) / n;
      const reach = (x * 2 * Math.SQRT2 * spread) / Math.sqrt(n);
      const both = m === n / 2 ? 1 : 2;
      for (const sign of [-1, 1]) {
        const edge = 2 * spread + sign * reach;
        let V = sign > 0 ? Math.ceil(edge) : Math.floor(edge);
        let tail = 0;
        let term: number;
        do {
          term = Math.exp(logP(m, V));
          tail += term;
          V += sign;
        } while (term > tail * NEGLIGIBLE);
        sum += both * tail;
      }
    }
    return sum;
  };
}

/** Returns ln k! for k ≤ n, with Kahan summation. */
function logFactorials(n: number): Float64Array {
  const table = new Float64Array(n + 1);
  let lost = 0;
  for (let k = 2; k <= n; k++) {
    const term = Math.log(k) - lost;
    table[k] = table[k - 1] + term;
    lost = table[k] - table[k - 1] - term;
  }
  return table;
}

/**
 * Computes the constants of `packages/sp800-22/src/constants.ts` from first principles and prints them as JSON.
 *
 *     node packages/lab/studies/sts-constants.ts
 *
 * Class probabilities are exact counts: the strings of a class among all 2^M strings, divided once at the
 * end. Only the moments of the universal test and the approximation of the overlapping template test, as in
 * NIST's program, are sums of doubles.
 */

/** Returns count / 2^exponent, correctly rounded except for the last half unit. */
function overPowerOfTwo(count: bigint, exponent: number): number {
  const surplus = Math.max(0, count.toString(16).length * 4 - 80);
  return Number(count >> BigInt(surplus)) * 2 ** (surplus - exponent);
}

/** Returns the differences of a cumulative distribution; the last class is the rest of `all`. */
function classes(cumulative: readonly bigint[], all: bigint, exponent: number): number[] {
  const bounds = [0n, ...cumulative, all];
  return bounds.slice(1).map((bound, i) => overPowerOfTwo(bound - bounds[i], exponent));
}

/**
 * §3.4: P(longest run of ones in M bits ≤ shortest), …, P(≥ longest).
 * Strings without a run longer than r: all 2^n of them for n ≤ r; then such a string ends in 0, 10,
 * 110, …, so that a_n = a_(n−1) + … + a_(n−r−1) = 2 a_(n−1) − a_(n−r−2).
 */
export function longestRunProbabilities(M: number, shortest: number, longest: number): number[] {
  const atMost = (r: number): bigint => {
    const a: bigint[] = [];
    for (let n = 0; n <= M; n++) {
      if (n <= r) a.push(1n << BigInt(n));
      else if (n === r + 1) a.push((1n << BigInt(n)) - 1n);
      else a.push(2n * a[n - 1] - a[n - r - 2]);
    }
    return a[M];
  };
  const cumulative: bigint[] = [];
  for (let r = shortest; r < longest; r++) cumulative.push(atMost(r));
  return classes(cumulative, 1n << BigInt(M), M);
}

/**
 * §3.8: P(0), …, P(K − 1), P(≥ K) overlapping matches of m ones in M bits. State of the count: the
 * run of ones that ends here, at most m, and the matches so far, at most K.
 */
export function overlappingTemplateProbabilities(m: number, M: number, K: number): number[] {
  let states = new Map<string, bigint>([['0 0', 1n]]);
  for (let n = 0; n < M; n++) {
    const next = new Map<string, bigint>();
    const add = (run: number, matches: number, strings: bigint): void => {
      const key = `${run} ${matches}`;
      next.set(key, (next.get(key) ?? 0n) + strings);
    };
    for (const [key, strings] of states) {
      const [run, matches] = key.split(' ').map(Number);
      const longer = Math.min(m, run + 1);
      add(0, matches, strings);
      add(longer, Math.min(K, matches + (longer === m ? 1 : 0)), strings);
    }
    states = next;
  }
  const totals = new Array<bigint>(K + 1).fill(0n);
  for (const [key, strings] of states) totals[Number(key.split(' ')[1])] += strings;
  return totals.map((total) => overPowerOfTwo(total, M));
}

/** §3.8: the compound Poisson approximation with λ = (M − m + 1)/2^m, η = λ/2, as in NIST's program. */
export function overlappingTemplateApproximation(m: number, M: number, K: number): number[] {
  const eta = (M - m + 1) / 2 ** m / 2;
  const pi = [Math.exp(-eta)];
  // P(U = u) = e^(−η) 2^(−u) Σ_{l=1..u} C(u − 1, l − 1) η^l / l!
  for (let u = 1; u < K; u++) {
    let sum = 0;
    let term = eta;
    for (let l = 1; l <= u; l++) {
      sum += term;
      term *= ((u - l) / l) * (eta / (l + 1));
    }
    pi.push(Math.exp(-eta) * 2 ** -u * sum);
  }
  pi.push(1 - pi.reduce((a, b) => a + b, 0));
  return pi;
}

/**
 * §3.10: class probabilities of T for blocks of M bits. Of the 2^M strings, 2^min(2M − 2L, 2L − 1)
 * have linear complexity L > 0, and one has L = 0. For M = 500 the result equals the limit for
 * M → ∞ (1/96, 1/32, 1/8, 1/2, 1/4, 1/16, 1/48) in every digit of a double.
 */
export function linearComplexityProbabilities(M: number): number[] {
  const sign = M % 2 === 0 ? 1 : -1;
  const mu = M / 2 + (9 - sign) / 36;
  const totals = new Array<bigint>(7).fill(0n);
  for (let L = 0; L <= M; L++) {
    const strings = L === 0 ? 1n : 1n << BigInt(Math.min(2 * M - 2 * L, 2 * L - 1));
    const T = Math.round(sign * (L - mu) + 2 / 9);
    totals[Math.min(6, Math.max(0, T + 3))] += strings;
  }
  return totals.map((total) => overPowerOfTwo(total, M));
}

/**
 * §3.9: mean and variance of log2 G, where G, the distance to the last occurrence, is geometric with
 * p = 2^−L. The sums end where (1 − p)^i is below 1e-26.
 */
export function universalMoments(L: number): { expectedValue: number; variance: number } {
  const p = 2 ** -L;
  let mean = 0;
  let square = 0;
  let weight = p;
  for (let i = 1; i <= 60 * 2 ** L + 60; i++) {
    const log = Math.log2(i);
    mean += weight * log;
    square += weight * log * log;
    weight *= 1 - p;
  }
  return { expectedValue: mean, variance: square - mean * mean };
}

if (import.meta.main) {
  const tables = {
    longestRun: {
      8: longestRunProbabilities(8, 1, 4),
      128: longestRunProbabilities(128, 4, 9),
      10000: longestRunProbabilities(10_000, 10, 16),
    },
    overlappingTemplate: {
      exact: overlappingTemplateProbabilities(9, 1032, 5),
      nist: overlappingTemplateApproximation(9, 1032, 5),
    },
    linearComplexity: linearComplexityProbabilities(500),
    dftT2OverN: Math.log(20),
    universal: Array.from({ length: 16 }, (_, i) => ({ L: i + 1, ...universalMoments(i + 1) })),
  };
  process.stdout.write(`${JSON.stringify(tables, null, 2)}\n`);
}

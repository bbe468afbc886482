/**
 * Approximate entropy test. SP 800-22 Rev. 1a §2.12, §3.12.
 *
 * Are patterns of m bits continued by a 0 and a 1 equally often?
 */
import { assertOptions, checkedLater, type Members } from '../arguments.ts';
import type { TestDefinition } from '../definition.ts';
import { log } from '../elementary.ts';
import { assertInteger, assertLengthBits, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';
import { countPatterns, shortenPatterns } from './pattern-counts.ts';

/** The NIST program's default. */
export const APPROXIMATE_ENTROPY_M = 10;

export const approximateEntropyTest: TestDefinition = {
  // §2.12.7: m < ⌊log2 n⌋ − 5, hence ⌊log2 n⌋ ≥ m + 6.
  minimumBits: ({ approximateEntropyM: m }) => 2 ** (m + 6),
  run: (bits, { parameters: { approximateEntropyM: m } }) => approximateEntropy(bits, { m }),
  count: (counts, { parameters: { approximateEntropyM: m } }) => {
    const nu = m === APPROXIMATE_ENTROPY_M ? counts.patterns.nu11 : counts.ringPatterns(m + 1);
    return judgeApproximateEntropy(counts.n, m, nu);
  },
  parameters: ({ m }) => ({ m }),
};

interface ApproximateEntropyOptions {
  readonly m?: number;
}

const OPTIONS: Members<ApproximateEntropyOptions> = { m: checkedLater };

export function approximateEntropy(
  bits: Uint8Array,
  options: ApproximateEntropyOptions = {},
): TestResult {
  assertOptions('options', options, OPTIONS);
  const { m = APPROXIMATE_ENTROPY_M } = options;
  assertInteger('m', m, 1, 20);
  assertLengthBits(bits, 1);
  return judgeApproximateEntropy(bits.length, m, countPatterns(bits, m + 1));
}

/** Computes the test from the counts of the (m + 1)-bit patterns of the ring of `n` bits. */
function judgeApproximateEntropy(n: number, m: number, longer: Uint32Array): TestResult {
  // Steps 1 and 2: counts of the (m + 1)-bit and the m-bit patterns.
  const counts = shortenPatterns(longer);

  // Step 6: χ² = 2n (ln 2 − ApEn), which also gives ApEn.
  const chi2 = chiSquaredOfContinuations(counts, longer);
  const apen = Math.LN2 - chi2 / (2 * n);

  // Steps 3 to 5: C_i = #i / n, φ = Σ C_i ln C_i and ApEn = φ^(m) − φ^(m+1).
  const phi_m = phi(counts, n);
  const phi_m1 = phi_m - apen;

  // Step 7: p = igamc(2^(m−1), χ²/2).
  return { pValues: [igamc(2 ** (m - 1), chi2 / 2)], statistics: { m, phi_m, phi_m1, apen, chi2 } };
}

function phi(counts: Uint32Array, n: number): number {
  let sum = 0;
  for (const count of counts) if (count > 0) sum += count * log(count / n);
  return sum / n;
}

/**
 * Returns 2n (ln 2 − ApEn), rearranged. As #i = #i0 + #i1, it equals 2 Σ_i Σ_b #ib ln(2 #ib / #i). The
 * printed form multiplies the difference of two numbers near 7 by 2n, which leaves about eight correct
 * digits at n = 2^26. Here every pattern contributes a small term.
 */
function chiSquaredOfContinuations(counts: Uint32Array, longer: Uint32Array): number {
  let chi2 = 0;
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] > 0) {
      chi2 += counts[i] * divergence((longer[2 * i] - longer[2 * i + 1]) / counts[i]);
    }
  }
  return chi2;
}

/** Up to here, ten terms of the series are exact to a double. */
const SERIES_END = 1 / 8;
const SERIES = Array.from({ length: 10 }, (_, k) => 1 / ((k + 1) * (2 * k + 1)));

/** Returns (1 + δ) ln(1 + δ) + (1 − δ) ln(1 − δ) = Σ δ^2k / (k (2k − 1)) over k ≥ 1, for |δ| ≤ 1. */
function divergence(delta: number): number {
  if (Math.abs(delta) > SERIES_END) return logTerm(1 + delta) + logTerm(1 - delta);
  const square = delta * delta;
  let sum = 0;
  for (let k = SERIES.length - 1; k >= 0; k--) sum = sum * square + SERIES[k];
  return sum * square;
}

function logTerm(x: number): number {
  return x > 0 ? x * log(x) : 0;
}

/**
 * Approximate entropy test. SP 800-22 Rev. 1a §2.12, §3.12.
 *
 * Are patterns of m bits continued by a 0 and a 1 equally often?
 */
import { countPatterns, shortenPatterns } from './pattern-counts.ts';
import { assertInteger, assertLengthBits, type TestResult } from './result.ts';
import { igamc } from './special-functions.ts';

/** The NIST program's default. */
export const APPROXIMATE_ENTROPY_M = 10;

/** §2.12.7: m < ⌊log2 n⌋ − 5, hence ⌊log2 n⌋ ≥ m + 6. */
export const APPROXIMATE_ENTROPY_MINIMUM_BITS = 2 ** (APPROXIMATE_ENTROPY_M + 6);

export function approximateEntropy(
  bits: Uint8Array,
  { m = APPROXIMATE_ENTROPY_M }: { m?: number } = {},
): TestResult {
  assertInteger('m', m, 1, 20);
  assertLengthBits(bits, 1);
  const n = bits.length;

  // Steps 1 and 2: counts of the (m + 1)-bit and the m-bit patterns of the ring.
  const longer = countPatterns(bits, m + 1);
  const counts = shortenPatterns(longer);

  // Steps 3 and 4: C_i = #i / n and φ = Σ C_i ln C_i, for m and (step 5) for m + 1.
  const phi_m = phi(counts, n);
  const phi_m1 = phi(longer, n);

  // Step 6: ApEn = φ^(m) − φ^(m+1), χ² = 2n (ln 2 − ApEn).
  const apen = phi_m - phi_m1;
  const chi2 = chiSquaredOfContinuations(counts, longer);

  // Step 7: p = igamc(2^(m−1), χ²/2).
  return { pValues: [igamc(2 ** (m - 1), chi2 / 2)], statistics: { m, phi_m, phi_m1, apen, chi2 } };
}

function phi(counts: Uint32Array, n: number): number {
  let sum = 0;
  for (const count of counts) if (count > 0) sum += (count / n) * Math.log(count / n);
  return sum;
}

/**
 * 2n (ln 2 − ApEn), rearranged: as #i = #i0 + #i1, it equals 2 Σ_i Σ_b #ib ln(2 #ib / #i). The
 * printed form takes the difference of two numbers near 7 and multiplies it by 2n, which leaves
 * about eight correct digits at n = 2^26; here every pattern contributes a small term of its own.
 */
function chiSquaredOfContinuations(counts: Uint32Array, longer: Uint32Array): number {
  let chi2 = 0;
  for (let i = 0; i < counts.length; i++) {
    for (let b = 0; b < 2; b++) {
      const count = longer[2 * i + b];
      if (count > 0) chi2 += 2 * count * Math.log((2 * count) / counts[i]);
    }
  }
  // It cannot be negative; a rounding error can.
  return Math.max(0, chi2);
}

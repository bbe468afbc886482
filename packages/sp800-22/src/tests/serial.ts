/**
 * Serial test. SP 800-22 Rev. 1a §2.11, §3.11.
 *
 * Are all 2^m overlapping patterns of m bits about equally frequent?
 */
import { assertOptions, checkedLater, type Members } from '../arguments.ts';
import type { TestDefinition } from '../definition.ts';
import { assertInteger, assertLengthBits, type TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';
import { countPatterns, shortenPatterns } from './pattern-counts.ts';

/** The NIST program's default. */
export const SERIAL_M = 16;

export const serialTest: TestDefinition = {
  // §2.11.7: m < ⌊log2 n⌋ − 2, hence ⌊log2 n⌋ ≥ m + 3.
  minimumBits: ({ serialM: m }) => 2 ** (m + 3),
  run: (bits, { parameters: { serialM: m } }) => serial(bits, { m }),
  count: (counts, { parameters: { serialM: m } }) => {
    const squares =
      m === SERIAL_M ? counts.patterns.squares : squaresOfPatterns(counts.ringPatterns(m));
    return judgeSerial(counts.n, m, squares);
  },
  // §2.11.4 (5): P-value1 of ∇ψ², P-value2 of ∇²ψ².
  labels: () => ['del1', 'del2'],
  parameters: ({ m }) => ({ m }),
};

interface SerialOptions {
  readonly m?: number;
}

const OPTIONS: Members<SerialOptions> = { m: checkedLater };

export function serial(bits: Uint8Array, options: SerialOptions = {}): TestResult {
  assertOptions('options', options, OPTIONS);
  const { m = SERIAL_M } = options;
  assertInteger('m', m, 2, 24);
  assertLengthBits(bits, 1);
  const n = bits.length;
  return judgeSerial(n, m, squaresOfPatterns(countPatterns(bits, m)));
}

/** Steps 1 and 2: returns Σ ν² over the patterns of m, m − 1 and m − 2 bits of the ring, from ν of the longest. */
function squaresOfPatterns(nu_m: Uint32Array): [number, number, number] {
  const nu_m1 = shortenPatterns(nu_m);
  const nu_m2 = shortenPatterns(nu_m1);
  return [sumOfSquares(nu_m), sumOfSquares(nu_m1), sumOfSquares(nu_m2)];
}

/** Computes the test from Σ ν² over the patterns of m, m − 1 and m − 2 bits of the ring of `n` bits. */
function judgeSerial(n: number, m: number, squares: readonly [number, number, number]): TestResult {
  // Step 3: ψ²_m = (2^m / n) Σ ν² − n, and the same for m − 1 and m − 2; ψ²_0 = 0.
  const [psi2_m, psi2_m1, psi2_m2] = squares.map(
    (sum, shorter) => (2 ** (m - shorter) * sum - n * n) / n,
  ) as [number, number, number];

  // Step 4: ∇ψ² = ψ²_m − ψ²_{m−1}, ∇²ψ² = ψ²_m − 2ψ²_{m−1} + ψ²_{m−2}. Both are sums of squares, so a
  // rounding error must not make them negative.
  const del1 = Math.max(0, psi2_m - psi2_m1);
  const del2 = Math.max(0, psi2_m - 2 * psi2_m1 + psi2_m2);

  // Step 5: p1 = igamc(2^(m−2), ∇ψ²/2), p2 = igamc(2^(m−3), ∇²ψ²/2), as in §2.11.6; the figures
  // printed with this step in §2.11.4 do not follow from its example.
  return {
    pValues: [igamc(2 ** (m - 2), del1 / 2), igamc(2 ** (m - 3), del2 / 2)],
    statistics: { m, psi2_m, psi2_m1, psi2_m2, del1, del2 },
  };
}

/** Returns Σ ν² ≤ n², an exact integer up to n = 2^26, so only later steps round. */
function sumOfSquares(nu: Uint32Array): number {
  let sum = 0;
  for (const count of nu) sum += count * count;
  return sum;
}

/**
 * Cumulative sums (cusum) test, forward and backward. SP 800-22 Rev. 1a §2.13, §3.13.
 *
 * Does the random walk of the sequence go too far from zero, or not far enough?
 */

import { assertOptions, type Members } from '../arguments.ts';
import { CONSTANTS, type Constants } from '../constants.ts';
import type { TestDefinition } from '../definition.ts';
import type { WalkExtremes } from '../kernels/counts.ts';
import { assertLengthBits, type TestResult } from '../result.ts';
import { normalTail } from '../special-functions.ts';

/** e^(−45) is below the precision of a double. */
const NEGLIGIBLE_EXPONENT = 45;

export const cumulativeSumsTest: TestDefinition = {
  // §2.13.7.
  minimumBits: 100,
  run: (bits, { constants }) => cumulativeSums(bits, { constants }),
  count: (counts, { constants }) => judgeCumulativeSums(counts.n, counts.walkExtremes(), constants),
  labels: () => ['forward', 'reverse'],
};

interface CumulativeSumsOptions {
  readonly constants?: Constants;
}

const OPTIONS: Members<CumulativeSumsOptions> = { constants: CONSTANTS };

export function cumulativeSums(bits: Uint8Array, options: CumulativeSumsOptions = {}): TestResult {
  assertOptions('options', options, OPTIONS);
  const { constants = 'exact' } = options;
  assertLengthBits(bits, 1);
  const n = bits.length;

  // Steps 1 and 2: X_i = 2ε_i − 1 and the partial sums S_k = X_1 + … + X_k.
  let S = 0;
  let highest = 0;
  let lowest = 0;
  for (let i = 0; i < n; i++) {
    S += 2 * bits[i] - 1;
    if (S > highest) highest = S;
    if (S < lowest) lowest = S;
  }
  return judgeCumulativeSums(n, { S, highest, lowest }, constants);
}

/** Computes the test from the extremes of the walk of `n` bits. */
export function judgeCumulativeSums(
  n: number,
  { S, highest, lowest }: WalkExtremes,
  constants: Constants,
): TestResult {
  // Step 3: z = max |S_k|. The sums from the other end are S_n − S_k for k = 0 … n − 1; k = n adds
  // only a 0, so their extremes follow from the forward pass.
  const z_forward = Math.max(highest, -lowest);
  const z_reverse = Math.max(highest - S, S - lowest);

  // Step 4.
  return {
    pValues: [cusumPValue(n, z_forward, constants), cusumPValue(n, z_reverse, constants)],
    statistics: { z_forward, z_reverse },
  };
}

/**
 * §2.13.4 (4), with u = z / √n:
 *
 *     p = 1 − Σ_{k = (−n/z + 1)/4}^{(n/z − 1)/4} [Φ((4k+1)u) − Φ((4k−1)u)]
 *           + Σ_{k = (−n/z − 3)/4}^{(n/z − 1)/4} [Φ((4k+3)u) − Φ((4k+1)u)]
 *
 * The limits are rounded down. The NIST program's integer divisions round towards zero instead, which
 * makes a difference only near n = 10. The term k = 0 of the first sum is Φ(u) − Φ(−u) = 1 − 2 (1 − Φ(u)).
 * Its 1 and the leading 1 are cancelled on paper, so that a small p keeps its digits.
 */
function cusumPValue(n: number, z: number, constants: Constants): number {
  const u = z / Math.sqrt(n);
  const limit = (sign: 1 | -1, offset: number): number => {
    if (constants === 'exact') return Math.floor(((sign * n) / z + offset) / 4);
    return Math.trunc((sign * Math.trunc(n / z) + offset) / 4);
  };
  // Beyond √(u² + 90) the tail e^(−x²/2) is negligible beside that of u. Without this limit, a walk with
  // z = 1 would cost n/2 terms.
  const kMax = Math.ceil(Math.sqrt(u * u + 2 * NEGLIGIBLE_EXPONENT) / (4 * u)) + 1;

  // 1 − Φ(j u) for each odd j, at index (j − 1) / 2; each occurs in several terms.
  const tails = Array.from({ length: 2 * kMax + 2 }, (_, i) => normalTail((2 * i + 1) * u));
  // Φ((j + 2) u) − Φ(j u) for odd j, from the tails on its side of zero.
  const mass = (j: number): number => {
    const nearest = j > 0 ? (j - 1) / 2 : (-j - 3) / 2;
    return tails[nearest] - tails[nearest + 1];
  };

  let p = 2 * tails[0];
  const last = Math.min(limit(1, -1), kMax);
  for (let k = Math.max(limit(-1, 1), -kMax); k <= last; k++) if (k !== 0) p -= mass(4 * k - 1);
  for (let k = Math.max(limit(-1, -3), -kMax); k <= last; k++) p += mass(4 * k + 1);
  // The truncated sums may leave [0, 1] by a rounding error, or, for n of a few bits, by more.
  return Math.min(1, Math.max(0, p));
}

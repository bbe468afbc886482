/** The Markov estimate: SP 800-90B §6.3.3, for binary input only. */
import { exp2, log2 } from '../../../sp800-22/src/elementary.ts';
import { type Estimate, type NotApplicable, notApplicable } from './_estimate.ts';

/** Step 3: the length, in bits, of the sequences whose probability is bounded. */
const SEQUENCE_BITS = 128;

interface MarkovEstimate extends Estimate {
  readonly p0: number;
  readonly p1: number;
  readonly p00: number;
  readonly p01: number;
  readonly p10: number;
  readonly p11: number;
  readonly pHatMax: number;
}

export function markovEstimate(bits: Uint8Array): MarkovEstimate | NotApplicable {
  if (bits.length < 2) return notApplicable('needs at least 2 bits');
  const counts = countTransitions(bits);
  const [c00, c01, c10, c11] = counts;
  // Step 1.
  const p1 = (c01 + c11 + bits[0]) / bits.length;
  const p0 = 1 - p1;
  // Step 2. A value that is never followed by another has no transitions.
  const [p00, p01] = shares(c00, c01);
  const [p10, p11] = shares(c10, c11);
  // Step 3: its table row by row, as −log2 of the probability. Impossible sequences give infinity.
  const [h0, h1, h00, h01, h10, h11] = [p0, p1, p00, p01, p10, p11].map((p) => -log2(p));
  const bound = Math.min(
    h0 + 127 * h00,
    h0 + 64 * h01 + 63 * h10,
    h0 + h01 + 126 * h11,
    h1 + h10 + 126 * h00,
    h1 + 64 * h10 + 63 * h01,
    h1 + 127 * h11,
    SEQUENCE_BITS,
  );
  // Step 4. `+ 0` turns −0 into 0.
  const minEntropy = bound / SEQUENCE_BITS + 0;
  return { applicable: true, p0, p1, p00, p01, p10, p11, pHatMax: exp2(-bound), minEntropy };
}

/** Counts overlapping occurrences of 00, 01, 10 and 11. */
function countTransitions(bits: Uint8Array): Int32Array {
  const counts = new Int32Array(4);
  for (let i = 1; i < bits.length; i++) counts[2 * bits[i - 1] + bits[i]]++;
  return counts;
}

function shares(zeros: number, ones: number): [number, number] {
  const total = zeros + ones;
  return total === 0 ? [0, 0] : [zeros / total, ones / total];
}

/**
 * The entropy of conditioned output: NIST SP 800-90B §3.1.5.1.2 (vetted conditioning components) and
 * §3.1.5.2 (others). https://doi.org/10.6028/NIST.SP.800-90B
 *
 * The text subtracts numbers that are nearly equal. Here each difference is formed before rounding,
 * so that 53 bits have the digits for which NIST's program takes hundreds.
 */
import {
  assertInteger,
  assertNumber,
  assertObject,
  assertOptions,
  checkedLater,
  type Members,
} from '../../sp800-22/src/arguments.ts';
import { exp, exp2, log1p, log2 } from '../../sp800-22/src/elementary.ts';

/** §3.1.5.2: most that a component that is not vetted may claim, per bit of its output. */
const LIMIT_PER_BIT = 0.999;

/** Greatest number of bits, as in NIST's program. */
const MAX_BITS = 2 ** 32 - 1;

export interface ConditioningInput {
  /** n_in: bits that go into the component for each output. */
  readonly inputBits: number;
  /** n_out: bits of an output. */
  readonly outputBits: number;
  /** nw: the narrowest internal width in bits. At most n_in counts. */
  readonly narrowestWidth: number;
  /** h_in: entropy of an input in bits, above 0 and at most n_in. */
  readonly inputEntropy: number;
}

export interface Conditioning {
  /** Output_Entropy(n_in, n_out, nw, h_in) in bits. */
  readonly outputEntropy: number;
  /**
   * −log2(ε) for an output entropy of (1 − ε) · n_out. It keeps its digits where `outputEntropy` is
   * rounded to n_out.
   */
  readonly fullEntropyExponent: number;
  /** h_out in bits. */
  readonly hOut: number;
}

/**
 * Returns h_out of a vetted component, or, with `hPrime` (entropy per bit of conditioned samples,
 * above 0 and at most 1), of another. Throws `RangeError` for arguments out of range.
 */
export function assessConditioning(input: ConditioningInput, hPrime?: number): Conditioning {
  assertInput(input, hPrime);
  const { outputBits } = input;
  const { outputEntropy, missing } = outputEntropyOf(input);
  const fullEntropyExponent = missing > 0 ? -log2(missing / outputBits) : vanishingExponent(input);
  const limits = hPrime === undefined ? [] : [LIMIT_PER_BIT * outputBits, hPrime * outputBits];
  const hOut = Math.min(outputEntropy, ...limits);
  return { outputEntropy, fullEntropyExponent, hOut };
}

/** §3.1.5.1.2, with n = min(n_out, nw). `missing` is n_out minus the output entropy. */
function outputEntropyOf({
  inputBits,
  outputBits,
  narrowestWidth,
  inputEntropy,
}: ConditioningInput): { outputEntropy: number; missing: number } {
  const n = Math.min(outputBits, narrowestWidth, inputBits);
  // Steps 1 and 3: ψ = 2^(n_in − n) P_low + P_high = 2^−n (share + 2^(n − h_in)), where `share` =
  // (1 − 2^−h_in) / (1 − 2^−n_in) = 1 − `lost` is next to 1.
  const lost = (exp2(-inputEntropy) - exp2(-inputBits)) / (1 - exp2(-inputBits));
  const logShare = log1p(-lost);
  // Steps 4 and 5: ω = U · P_low = 2^−n · share · (1 + √(2 n ln 2 · 2^(n − n_in))).
  const spread = Math.sqrt(2 * n * Math.LN2) * exp2((n - inputBits) / 2);
  const logOmega = logShare + log1p(spread);
  // Both as ln(2^n · p), which is what an output lacks of n bits. With little entropy 2^(n − h_in) is
  // great or overflows; then its logarithm is taken apart.
  const excess = n - inputEntropy;
  const logPsi =
    excess < 1
      ? log1p(exp2(excess) - lost)
      : excess * Math.LN2 + log1p(exp2(-excess) * exp(logShare));
  const lacking = Math.min(n, Math.max(logPsi, logOmega) / Math.LN2);
  return { outputEntropy: n - lacking, missing: outputBits - n + lacking };
}

/**
 * Returns the exponent where n_out minus the output entropy is below the least number of 64 bits. Then
 * n_out is the least width, and both 2^n ψ − 1 and 2^n ω − 1 are less `lost`, which counts if n is
 * small.
 */
function vanishingExponent({ inputBits, outputBits: n, inputEntropy }: ConditioningInput): number {
  const lostShare = 1 - exp2(inputEntropy - inputBits);
  const logPsi = n - inputEntropy + log2(1 - lostShare * exp2(-n));
  const logSpread = (log2(2 * n * Math.LN2) + n - inputBits) / 2;
  const lostOfSpread = lostShare * exp2(-inputEntropy - logSpread);
  const logOmega = lostOfSpread < 1 ? logSpread + log2(1 - lostOfSpread) : -Infinity;
  return log2(n * Math.LN2) - Math.max(logPsi, logOmega);
}

/** The values are checked together. */
const INPUT: Members<ConditioningInput> = {
  inputBits: checkedLater,
  outputBits: checkedLater,
  narrowestWidth: checkedLater,
  inputEntropy: checkedLater,
};

function assertUpTo(name: string, value: number, most: number): void {
  const expected = `a number above 0 and at most ${most}`;
  assertNumber(name, value, expected, (one) => one > 0 && one <= most);
}

function assertInput(input: ConditioningInput, hPrime: number | undefined): void {
  assertObject('input', input, ...Object.keys(INPUT));
  assertOptions('input', input, INPUT);
  for (const name of ['inputBits', 'outputBits', 'narrowestWidth'] as const) {
    assertInteger(name, input[name], 1, MAX_BITS);
  }
  assertUpTo('inputEntropy', input.inputEntropy, input.inputBits);
  if (hPrime !== undefined) assertUpTo('hPrime', hPrime, 1);
}

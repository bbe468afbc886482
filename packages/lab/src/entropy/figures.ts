/** Figures of an assessment in words, for its text and its page. */

import { grouped } from '../../../sp800-22/src/index.ts';
import type { InitialFigures } from './claim.ts';

export function figure(minEntropy: number): string {
  return minEntropy.toFixed(6);
}

export function bitsText(bits: number): string {
  return bits === 1 ? '1 bit' : `${bits} bits`;
}

export function valuesText(alphabetSize: number): string {
  return alphabetSize === 1 ? 'all the same' : `${alphabetSize} different values`;
}

/** Returns min(H_original, bits · H_bitstring), which the restart tests may still lower. */
export function estimateText(minEntropyPerSymbol: number, bitsPerSymbol: number): string {
  const perBit = minEntropyPerSymbol / bitsPerSymbol;
  return `${figure(minEntropyPerSymbol)} bits per symbol, ${figure(perBit)} bits per bit`;
}

/** Names the estimate divided by the bits of a symbol. */
export function perBitName(hBitstring: number | null): string {
  return `${hBitstring === null ? 'H_original' : 'estimate'}, bits per bit of a symbol`;
}

export function sizes(assessment: {
  readonly samples: number;
  readonly bitsPerSymbol: number;
  readonly alphabetSize: number;
}): [string, string][] {
  return [
    ['samples', grouped(assessment.samples)],
    ['width', bitsText(assessment.bitsPerSymbol)],
    ['alphabet', valuesText(assessment.alphabetSize)],
  ];
}

export function estimates({ hOriginal, hBitstring }: InitialFigures): [string, string][] {
  return [
    ['H_original, bits per symbol', figure(hOriginal)],
    ...(hBitstring === null
      ? []
      : [['H_bitstring, bits per bit', figure(hBitstring)] as [string, string]]),
  ];
}

export function hPrimeText(hPrime: number): string {
  return `Entropy of conditioned output h' = ${figure(hPrime)} bits per bit`;
}

export const H_PRIME_REMARK =
  "Not a final assessment: h' is one of the figures that limit h_out, the entropy of the output (SP 800-90B §3.1.5.2). h_out is not part of this report.";

export const OTHER_TRACK_REMARK =
  'The non-IID track applies to this source (SP 800-90B §3.1.2): assess it without --iid.';

/** Converts field names such as `pGlobalUpper` to `p_global_upper`. */
export function snakeCase(record: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

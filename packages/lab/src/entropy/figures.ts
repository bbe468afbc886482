/** Figures of an assessment in words, for its text and its page. */

import { grouped } from '../../../sp800-22/src/index.ts';
import { ASSESSMENT_SAMPLES } from '../../../sp800-90b/src/index.ts';

export function figure(minEntropy: number): string {
  return minEntropy.toFixed(6);
}

export function bitsText(bits: number): string {
  return bits === 1 ? '1 bit' : `${bits} bits`;
}

function valuesText(alphabetSize: number): string {
  return alphabetSize === 1 ? 'all the same' : `${alphabetSize} different values`;
}

interface Samples {
  readonly samples: number;
  readonly bitsPerSymbol: number;
  readonly alphabetSize: number;
}

export function samplesText({ samples, bitsPerSymbol, alphabetSize }: Samples): string {
  return `${grouped(samples)} samples of ${bitsText(bitsPerSymbol)}, ${valuesText(alphabetSize)}`;
}

/** Estimates from consecutive samples, in bits per symbol; `hBitstring` in bits per bit, null without a bit string. */
export interface InitialFigures {
  readonly hOriginal: number;
  readonly hBitstring: number | null;
  readonly bitsPerSymbol: number;
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

/** Returns the facts of the page. */
export function sizes({ samples, bitsPerSymbol, alphabetSize }: Samples): [string, string][] {
  return [
    ['samples', grouped(samples)],
    ['width', bitsText(bitsPerSymbol)],
    ['alphabet', valuesText(alphabetSize)],
  ];
}

/** Returns the rows of the text. */
export function estimateRows({ hOriginal, hBitstring }: InitialFigures): string[][] {
  return [
    ['H_original', `${figure(hOriginal)} bits per symbol`],
    ['H_bitstring', hBitstring === null ? '-' : `${figure(hBitstring)} bits per bit`],
  ];
}

/** Returns the facts of the page. */
export function estimates({ hOriginal, hBitstring }: InitialFigures): [string, string][] {
  return [
    ['H_original, bits per symbol', figure(hOriginal)],
    ...(hBitstring === null
      ? []
      : [['H_bitstring, bits per bit', figure(hBitstring)] as [string, string]]),
  ];
}

/** Returns h' as the text has it. */
export function hPrimeFigure(hPrime: number): string {
  return `${figure(hPrime)} bits per bit, for assess-conditioning --h-prime`;
}

export function hPrimeText(hPrime: number): string {
  return `Entropy of conditioned output h' = ${figure(hPrime)} bits per bit`;
}

export const H_PRIME_REMARK =
  "Not a final assessment: h' is one of the figures that limit h_out, the entropy of the output (SP 800-90B §3.1.5.2). h_out is not part of this report.";

export const OTHER_TRACK_REMARK =
  'The non-IID track applies to this source (SP 800-90B §3.1.2): assess it without --iid.';

/** Returns the first members of the JSON of samples. */
export function sampleFigures({ samples, bitsPerSymbol }: Omit<Samples, 'alphabetSize'>): object {
  return {
    samples,
    enough_samples: samples >= ASSESSMENT_SAMPLES,
    bits_per_symbol: bitsPerSymbol,
  };
}

/** Returns the last ones. */
export function estimateFigures({
  hOriginal,
  hBitstring,
  minEntropyPerSymbol,
  bitsPerSymbol,
}: InitialFigures & { readonly minEntropyPerSymbol: number | null }): object {
  return {
    h_original: hOriginal,
    h_bitstring: hBitstring,
    min_entropy_per_symbol: minEntropyPerSymbol,
    min_entropy_per_bit: minEntropyPerSymbol && minEntropyPerSymbol / bitsPerSymbol,
  };
}

/** The report on the non-IID track: of samples, and of conditioned output. */

import { grouped } from '../../../sp800-22/src/index.ts';
import {
  ASSESSMENT_SAMPLES,
  type ConditionedAssessment,
  type NonIidAssessment,
} from '../../../sp800-90b/src/index.ts';
import { alignColumns } from '../report/text.ts';
import { initialClaim } from './claim.ts';
import { bitstringPart } from './coverage.ts';
import { absenceSigns, estimatorRows, outcomesJson, outcomeTable } from './estimators.ts';
import {
  bitsText,
  estimates,
  estimateText,
  figure,
  H_PRIME_REMARK,
  hPrimeText,
  perBitName,
  sizes,
  valuesText,
} from './figures.ts';
import type { EntropyPageParts } from './page.ts';
import type { EntropyResult } from './report.ts';

const CAVEAT = `This is an estimate by the non-IID track of SP 800-90B, from these samples only. It does not prove entropy:
the output of a deterministic generator scores as high.
`;

/** Returns the result of the non-IID track; without `hSubmitter`, no claim was given. */
export function nonIidResult(assessment: NonIidAssessment, hSubmitter?: number): EntropyResult {
  return {
    text: () => formatEntropyText(assessment),
    json: () => entropyJson(assessment),
    claim: initialClaim(hSubmitter, assessment.minEntropyPerSymbol),
    page: () => nonIidPage(assessment),
  };
}

export function formatEntropyText(assessment: NonIidAssessment): string {
  const { samples, bitsPerSymbol, alphabetSize, hOriginal, hBitstring, minEntropyPerSymbol } =
    assessment;
  const lines = [
    `${grouped(samples)} samples of ${bitsText(bitsPerSymbol)}, ${valuesText(alphabetSize)}`,
    '',
    ...outcomeTable(
      ['min-entropy', 'bits per symbol', 'bits per bit of bit string'],
      [assessment.literal, assessment.bitstring],
    ),
    '',
    ...alignColumns([
      ['H_original', `${figure(hOriginal)} bits per symbol`],
      ['H_bitstring', hBitstring === null ? '-' : `${figure(hBitstring)} bits per bit`],
      ['Estimate', estimateText(minEntropyPerSymbol, bitsPerSymbol)],
    ]),
    '',
  ];
  return `${lines.join('\n')}\n${CAVEAT}`;
}

/** Returns the assessment with the field names of the JSON output. */
export function entropyJson(assessment: NonIidAssessment): Record<string, unknown> {
  const { samples, bitsPerSymbol, minEntropyPerSymbol } = assessment;
  return {
    samples,
    enough_samples: samples >= ASSESSMENT_SAMPLES,
    bits_per_symbol: bitsPerSymbol,
    alphabet_size: assessment.alphabetSize,
    literal: outcomesJson(assessment.literal),
    bitstring: assessment.bitstring && outcomesJson(assessment.bitstring),
    bitstring_bits: assessment.bitstringBits,
    h_original: assessment.hOriginal,
    h_bitstring: assessment.hBitstring,
    min_entropy_per_symbol: minEntropyPerSymbol,
    min_entropy_per_bit: minEntropyPerSymbol / bitsPerSymbol,
  };
}

function nonIidPage(assessment: NonIidAssessment): EntropyPageParts {
  const { literal, bitstring, hBitstring, minEntropyPerSymbol } = assessment;
  const columns = bitstring === null ? [literal] : [literal, bitstring];
  const heading = ['estimator', 'samples: bits per symbol', 'bit string: bits per bit'];
  const rows = [heading.slice(0, 1 + columns.length), ...estimatorRows(columns)];
  return {
    title: 'Non-IID track',
    passed: null,
    verdict: null,
    initial: assessment,
    remarks: [],
    facts: [
      ...sizes(assessment),
      ...estimates(assessment),
      [perBitName(hBitstring), figure(minEntropyPerSymbol / assessment.bitsPerSymbol)],
    ],
    tables: [{ title: 'Estimators', rows }],
    rule: [],
    signs: absenceSigns(columns),
    bitsPerSymbol: assessment.bitsPerSymbol,
    bitstring: bitstringPart(assessment),
    caveat: CAVEAT,
  };
}

export function formatConditionedText(assessment: ConditionedAssessment): string {
  const { samples, bitsPerSymbol, bits, bitstring, hPrime } = assessment;
  const lines = [
    `${grouped(samples)} samples of ${bitsText(bitsPerSymbol)}, ${grouped(bits)} bits assessed`,
    '',
    ...outcomeTable(['min-entropy', 'bits per bit'], [bitstring]),
    '',
    `h'  ${figure(hPrime)} bits per bit, for assess-conditioning --h-prime`,
    '',
  ];
  return `${lines.join('\n')}\n${CAVEAT}`;
}

export function conditionedJson(assessment: ConditionedAssessment): Record<string, unknown> {
  return {
    samples: assessment.samples,
    enough_samples: assessment.samples >= ASSESSMENT_SAMPLES,
    bits_per_symbol: assessment.bitsPerSymbol,
    bits: assessment.bits,
    bitstring: outcomesJson(assessment.bitstring),
    h_prime: assessment.hPrime,
  };
}

export function conditionedPage(assessment: ConditionedAssessment): EntropyPageParts {
  const { samples, bitsPerSymbol, bits, bitstring, hPrime } = assessment;
  const heading = ['estimator', 'bits per bit'];
  return {
    title: 'Conditioned output',
    passed: null,
    verdict: hPrimeText(hPrime),
    initial: null,
    remarks: [H_PRIME_REMARK],
    facts: [
      ['samples', grouped(samples)],
      ['assessed bits', grouped(bits)],
    ],
    tables: [{ title: 'Estimators', rows: [heading, ...estimatorRows([bitstring])] }],
    rule: [],
    signs: absenceSigns([bitstring]),
    bitsPerSymbol,
    bitstring: { bits, of: samples * bitsPerSymbol, alone: true },
    caveat: CAVEAT,
  };
}

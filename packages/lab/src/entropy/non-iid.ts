/** The report on the non-IID track: of samples, and of conditioned output. */

import { grouped } from '../../../sp800-22/src/index.ts';
import type { ConditionedAssessment, NonIidAssessment } from '../../../sp800-90b/src/index.ts';
import { alignColumns, type Paragraph } from '../report/text.ts';
import { initialClaim } from './claim.ts';
import { bitstringPart } from './coverage.ts';
import { absenceSigns, estimatorRows, estimatorsText, outcomesJson } from './estimators.ts';
import {
  bitsText,
  estimateFigures,
  estimateRows,
  estimates,
  estimateText,
  figure,
  H_PRIME_REMARK,
  hPrimeFigure,
  hPrimeText,
  perBitName,
  sampleFigures,
  samplesText,
  sizes,
} from './figures.ts';
import type { EntropyPageParts, EntropyReport } from './model.ts';

const CAVEAT = [
  'This is an estimate by the non-IID track of SP 800-90B, from these samples only. It does not prove entropy:',
  'the output of a deterministic generator scores as high.',
];

/** Returns the report on consecutive samples; without `hSubmitter`, no claim was given. */
export function nonIidReport(assessment: NonIidAssessment, hSubmitter?: number): EntropyReport {
  return {
    text: nonIidText(assessment),
    json: nonIidJson(assessment),
    claim: initialClaim(hSubmitter, assessment.minEntropyPerSymbol),
    page: nonIidPage(assessment),
  };
}

function nonIidText(assessment: NonIidAssessment): Paragraph[] {
  const { literal, bitstring, minEntropyPerSymbol, bitsPerSymbol } = assessment;
  const heading = ['min-entropy', 'bits per symbol', 'bits per bit of bit string'];
  const estimate = ['Estimate', estimateText(minEntropyPerSymbol, bitsPerSymbol)];
  return [
    [samplesText(assessment)],
    ...estimatorsText(heading, [literal, bitstring]),
    alignColumns([...estimateRows(assessment), estimate]),
    CAVEAT,
  ];
}

function nonIidJson(assessment: NonIidAssessment): object {
  return {
    ...sampleFigures(assessment),
    alphabet_size: assessment.alphabetSize,
    literal: outcomesJson(assessment.literal),
    bitstring: assessment.bitstring && outcomesJson(assessment.bitstring),
    bitstring_bits: assessment.bitstringBits,
    ...estimateFigures(assessment),
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

/** Returns the report on conditioned output. */
export function conditionedReport(assessment: ConditionedAssessment): EntropyReport {
  const { samples, bitsPerSymbol, bits, bitstring, hPrime } = assessment;
  return {
    text: [
      [`${grouped(samples)} samples of ${bitsText(bitsPerSymbol)}, ${grouped(bits)} bits assessed`],
      ...estimatorsText(['min-entropy', 'bits per bit'], [bitstring]),
      [`h'  ${hPrimeFigure(hPrime)}`],
      CAVEAT,
    ],
    json: {
      ...sampleFigures(assessment),
      bits,
      bitstring: outcomesJson(bitstring),
      h_prime: hPrime,
    },
    claim: null,
    page: conditionedPage(assessment),
  };
}

function conditionedPage(assessment: ConditionedAssessment): EntropyPageParts {
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

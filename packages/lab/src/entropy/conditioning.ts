/** The report of `phm assess-conditioning`. */

import {
  assessConditioning,
  type Conditioning,
  type ConditioningInput,
} from '../../../sp800-90b/src/index.ts';
import type { Report } from '../report/model.ts';
import { alignColumns, type Paragraph } from '../report/text.ts';
import { programRows, type Software } from '../report/trace.ts';
import { figure } from './figures.ts';

/** Above this share of n_out, it matters how close the output is to full entropy. */
const NEARLY_FULL = 0.999;

/** Returns the report on a component; without `hPrime`, it is vetted. */
export function conditioningReport(
  input: ConditioningInput,
  hPrime: number | undefined,
  { software, created }: { readonly software: Software; readonly created: string },
): Report {
  const result = assessConditioning(input, hPrime);
  const { program, build } = software;
  return {
    text: [conditioningText(input, hPrime, result), alignColumns(programRows(software, created))],
    json: { ...conditioningJson(input, hPrime, result), program, software: { build }, created },
  };
}

function isNearlyFull({ outputBits }: ConditioningInput, { outputEntropy }: Conditioning): boolean {
  return outputEntropy > NEARLY_FULL * outputBits;
}

function conditioningText(
  input: ConditioningInput,
  hPrime: number | undefined,
  result: Conditioning,
): Paragraph {
  const { inputBits, outputBits, narrowestWidth, inputEntropy } = input;
  const { outputEntropy, fullEntropyExponent, hOut } = result;
  const rows = [
    ['n_in', `${inputBits}`],
    ['n_out', `${outputBits}`],
    ['nw', `${narrowestWidth}`],
    ['h_in', `${inputEntropy}`],
    ['Output_Entropy', figure(outputEntropy)],
  ];
  if (hPrime !== undefined) {
    rows.push(['0.999 n_out', figure(NEARLY_FULL * outputBits)]);
    rows.push(["h' n_out", figure(hPrime * outputBits)]);
  } else if (isNearlyFull(input, result)) {
    rows.push(['epsilon', `2^-${fullEntropyExponent.toFixed(3)}, for (1 - epsilon) n_out`]);
  }
  const kind = hPrime === undefined ? 'vetted' : 'not vetted';
  rows.push(['h_out', `${figure(hOut)} bits, ${figure(hOut / outputBits)} per bit (${kind})`]);
  return alignColumns(rows);
}

function conditioningJson(
  input: ConditioningInput,
  hPrime: number | undefined,
  result: Conditioning,
): Record<string, unknown> {
  return {
    vetted: hPrime === undefined,
    n_in: input.inputBits,
    n_out: input.outputBits,
    nw: input.narrowestWidth,
    h_in: input.inputEntropy,
    h_prime: hPrime ?? null,
    output_entropy: result.outputEntropy,
    full_entropy_exponent: isNearlyFull(input, result) ? result.fullEntropyExponent : null,
    h_out: result.hOut,
  };
}

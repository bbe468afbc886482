/** Says which part of the input a report of `phm assess-entropy` is on, and which not. */

import { grouped } from '../../../sp800-22/src/index.ts';
import { countText } from '../report/text.ts';
/** How much of the bit string was assessed: `bits` from its start, of `of`. */
export interface BitstringPart {
  readonly bits: number;
  readonly of: number;
  /** True if only the bits are assessed, and not the samples as such. */
  readonly alone?: boolean;
}

/** What the trace says of the input. */
interface CoveredInput {
  readonly size: number | null;
  readonly format: string;
  readonly samples: number;
  readonly subset: { readonly index: number; readonly samples: number } | null;
  readonly packed: boolean;
  readonly offset_bits?: number;
}

/** Returns the assessed part of the bit string; null without one. */
export function bitstringPart(assessment: {
  readonly samples: number;
  readonly bitsPerSymbol: number;
  readonly bitstringBits: number | null;
}): BitstringPart | null {
  const { samples, bitsPerSymbol, bitstringBits: bits } = assessment;
  return bits === null ? null : { bits, of: samples * bitsPerSymbol };
}

/** Returns the rows on the assessed samples, and on what was left out if anything was. */
export function coverageRows(
  input: CoveredInput,
  bitstring: BitstringPart | null,
): [name: string, value: string][] {
  const { before, after, total } = placeOf(input);
  const bits = bitstring?.alone ? bitsText(bitstring) : '';
  const of = total === null || total === input.samples ? '' : ` of ${grouped(total)}`;
  const numbers = `${grouped(before)} to ${grouped(before + input.samples - 1)}, counted from 0`;
  const place = before > 0 || after !== 0 ? `: ${numbers}` : '';
  const omitted = [...omittedSamples(before, after), ...omittedBits(bitstring)];
  return [
    ['Assessed part', `${bits}${grouped(input.samples)}${of} samples${place}`],
    ['Not assessed', omitted.length === 0 ? 'nothing' : omitted.join('; ')],
  ];
}

function bitsText({ bits, of }: BitstringPart): string {
  const part = bits === of ? 'all' : `the first ${grouped(bits)} of`;
  return `${part} ${grouped(of)} bits of `;
}

/** Samples before and after the assessed ones, and in all; null if not known. */
interface Place {
  readonly before: number;
  readonly after: number | null;
  readonly total: number | null;
}

function placeOf(input: CoveredInput): Place {
  const { subset, samples, packed, size, format, offset_bits: offsetBits = 0 } = input;
  const width = packed ? 1 : 8;
  const before = Math.floor(offsetBits / width) + (subset ? subset.index * subset.samples : 0);
  // The size tells the number of samples only of bytes as they are. Without a subset, all samples are read.
  const total = size === null || format !== 'binary' ? null : Math.floor((size * 8) / width);
  if (subset === null) return { before, after: 0, total };
  return { before, after: total && total - before - samples, total };
}

function omittedSamples(before: number, after: number | null): string[] {
  return [
    ...(before > 0 ? [`the first ${countText(before, 'sample')}`] : []),
    ...(after === null ? ['what follows, of unknown length'] : []),
    ...(after !== null && after > 0 ? [`the last ${countText(after, 'sample')}`] : []),
  ];
}

function omittedBits(bitstring: BitstringPart | null): string[] {
  if (bitstring === null || bitstring.bits === bitstring.of) return [];
  const { bits, of } = bitstring;
  return [`the last ${grouped(of - bits)} of the ${grouped(of)} bits of the bit string`];
}

/**
 * The facts by which a report of `phm assess-entropy` can be traced to its input, options and program. The page of
 * `phm testbench` writes them too, so that both write the same bytes.
 */

import { grouped } from '../../../sp800-22/src/index.ts';
import { type ReportFields, reportId } from '../report/identity.ts';
import { identityRows, programRows, type TraceRow } from '../report/trace.ts';
import { type BitstringPart, coverageRows } from './coverage.ts';

/** Says which samples were assessed, of which bytes. The members have the names of the JSON. */
export interface EntropyInput {
  readonly name: string;
  /** Size of the file in bytes; null for a pipe or a device. */
  readonly size: number | null;
  /** Bytes read, from the start of the input, and their digest. */
  readonly bytes: number;
  readonly bytes_sha256: string;
  /** `binary` on the command line; the page also decodes others. */
  readonly format: string;
  readonly samples: number;
  /** Of the assessed samples, one a byte: that of the bytes read if each of them is a sample. */
  readonly sha256: string;
  readonly subset: { readonly index: number; readonly samples: number } | null;
  readonly packed: boolean;
  readonly program: string;
  /** Bits before the first sample, which only the page can skip; left out if there are none. */
  readonly offset_bits?: number;
}

/** The options that decide on the result, as the command line has them. */
export interface DecidingFlags {
  readonly bitsPerSymbol?: number;
  readonly truncate?: boolean;
  readonly conditioned?: boolean;
  readonly submitterEntropy?: number;
  readonly iid?: boolean;
  /** Counts only with `iid`. */
  readonly seed?: string;
  readonly restart?: boolean;
  readonly initialEntropy?: number;
}

/** The same with the names of the JSON; null if not given. The seed is also there if it was drawn. */
export interface EntropyOptions {
  readonly bits_per_symbol: number | null;
  readonly truncate: boolean;
  readonly conditioned: boolean;
  readonly submitter_entropy: number | null;
  readonly iid: boolean;
  readonly seed: string | null;
  readonly restart: boolean;
  readonly initial_entropy: number | null;
}

export interface EntropyTrace {
  readonly report: ReportFields & { readonly id: string };
  readonly input: EntropyInput;
  readonly options: EntropyOptions;
  readonly software: { readonly build: string };
  readonly created: string;
}

export interface TracedRun {
  /** What the caller says about the report, as `checkFields` returns it. */
  readonly report: ReportFields;
  readonly input: EntropyInput;
  readonly flags: DecidingFlags;
  readonly build: string;
  readonly created: string;
}

/** Returns the trace with its identification, in which the time does not count. */
export function entropyTrace({ report, input, flags, build, created }: TracedRun): EntropyTrace {
  const facts = { input, options: optionsOf(flags), software: { build } };
  const id = reportId(input.bytes_sha256, { report, ...facts });
  return { report: { id, ...report }, ...facts, created };
}

function optionsOf(flags: DecidingFlags): EntropyOptions {
  return {
    bits_per_symbol: flags.bitsPerSymbol ?? null,
    truncate: flags.truncate ?? false,
    conditioned: flags.conditioned ?? false,
    submitter_entropy: flags.submitterEntropy ?? null,
    iid: flags.iid ?? false,
    seed: (flags.iid && flags.seed) || null,
    restart: flags.restart ?? false,
    initial_entropy: flags.initialEntropy ?? null,
  };
}

/** What the trace says of the assessment. */
interface AssessedPart {
  readonly bitsPerSymbol: number;
  readonly bitstring: BitstringPart | null;
}

/** Returns the trace as names and values, each on one line. */
export function entropyTraceRows(
  trace: EntropyTrace,
  { bitsPerSymbol, bitstring }: AssessedPart,
): TraceRow[] {
  const { report, input, options, software, created } = trace;
  const { offset_bits: offsetBits } = input;
  return [
    ...identityRows(report, { ...input, sha256: input.bytes_sha256 }),
    ...(offsetBits === undefined ? [] : [['Offset', `${offsetBits} bits`] as const]),
    ['Samples', String(input.samples)],
    ['SHA-256 of the samples', input.sha256],
    ['Subset', subsetText(input.subset)],
    ...coverageRows(input, bitstring),
    ['Bits per symbol', widthText(bitsPerSymbol, input, options)],
    ['Other options', optionsText(input, options)],
    ...programRows({ program: input.program, build: software.build }, created),
  ];
}

function subsetText(subset: EntropyInput['subset']): string {
  if (subset === null) return 'all samples';
  return `part ${subset.index}, counted from 0, of ${grouped(subset.samples)} samples`;
}

function widthText(
  bitsPerSymbol: number,
  { packed }: EntropyInput,
  { bits_per_symbol: given }: EntropyOptions,
): string {
  const origin = packed || given !== null ? '' : ', those of the greatest sample';
  return `${bitsPerSymbol}${origin}`;
}

/** Returns the options without a row of their own, as the command line has them. */
function optionsText({ packed }: EntropyInput, options: EntropyOptions): string {
  const { truncate, conditioned, iid, seed, restart, submitter_entropy: claim } = options;
  const texts = [
    ...(packed ? ['--packed'] : []),
    ...(truncate ? ['--truncate'] : []),
    ...(conditioned ? ['--conditioned'] : []),
    ...(iid ? [`--iid --seed ${seed}`] : []),
    ...(restart ? [`--restart --initial-entropy ${options.initial_entropy}`] : []),
    ...(claim === null ? [] : [`--submitter-entropy ${claim}`]),
  ];
  return texts.length === 0 ? 'none' : texts.join(' ');
}

/** Estimates the min-entropy of a file's samples, as `phm assess-entropy` does, and writes the same report. */

import { grouped } from '../../../../sp800-22/src/index.ts';
import { Sha256 } from '../../../../sp800-22/src/sha256.ts';
import { assessNonIid, type EstimatorProgress } from '../../../../sp800-90b/src/index.ts';
import { nonIidReport } from '../../../src/entropy/non-iid.ts';
import { entropyForms } from '../../../src/entropy/report.ts';
import { type EntropyInput, entropyTrace } from '../../../src/entropy/trace.ts';
import { formWarning, tooFewWarning, warningSentence } from '../../../src/entropy/warnings.ts';
import {
  type ConsumedInput,
  createdText,
  type InputSequence,
  openReader,
  recogniseForm,
  type SequenceReader,
  skipBits,
} from '../../../src/index.ts';
import { PROGRAM, SOFTWARE } from './build-facts.ts';
import { type EntropyRequest, type EntropyResult, MAX_SAMPLES, MAX_WIDTH } from './messages.ts';

/** How samples are found in the input. */
interface Sampling {
  readonly reader: SequenceReader;
  /** Bits of a sample in the input, and in what the reader yields. */
  readonly width: number;
  readonly readBits: 1 | 8;
  /** Undefined: the bits of the largest sample. */
  readonly bitsPerSymbol?: number;
}

interface ReadSamples {
  /** One in each byte. */
  readonly samples: Uint8Array;
  /** True if the input has more. */
  readonly isPart: boolean;
  /** The bytes read, by whose first ones a text is recognised. */
  readonly head: Uint8Array;
  /** The input up to the last of the samples. */
  readonly consumed: ConsumedInput;
}

export async function estimateEntropy(
  request: EntropyRequest,
  onProgress: (progress: EstimatorProgress) => void,
): Promise<EntropyResult> {
  const created = createdText();
  const sampling = samplingOf(request);
  const { reader, bitsPerSymbol } = sampling;
  const read = await readSamples(sampling, request.offset).finally(() => reader.close());
  const { samples } = read;
  if (samples.length < 2) throw new Error('the file contains fewer than 2 samples.');
  const input = describeInput(request, sampling, read);
  const warnings = warningsOn(request, sampling, read);
  const flags = bitsPerSymbol === undefined ? {} : { bitsPerSymbol };
  const estimates = nonIidReport(assessNonIid(samples, { ...flags, onProgress }));
  const { report } = request;
  const trace = entropyTrace({ report, input, flags, build: SOFTWARE, created });
  const forms = entropyForms(trace, estimates, warnings);
  return { kind: 'entropy', notes: notesOn(read, warnings), ...forms };
}

function describeInput(
  { file, offset }: EntropyRequest,
  { reader, readBits }: Sampling,
  { samples, isPart, consumed }: ReadSamples,
): EntropyInput {
  const hash = new Sha256();
  hash.update(samples);
  return {
    name: file.name,
    size: file.size,
    bytes: consumed.bytes,
    bytes_sha256: consumed.sha256,
    format: reader.format,
    samples: samples.length,
    sha256: hash.hex(),
    subset: isPart ? { index: 0, samples: MAX_SAMPLES } : null,
    packed: readBits === 1,
    program: PROGRAM,
    ...(offset > 0 && { offset_bits: offset }),
  };
}

/** Returns the warnings of the command line. Samples of a form are no text, whatever their values look like. */
function warningsOn(
  { file, format }: EntropyRequest,
  { readBits }: Sampling,
  { samples, head }: ReadSamples,
): string[] {
  const form = format === 'binary' ? recogniseForm(head) : null;
  // A byte of 0 or 1 is a sample.
  const isSample = form?.wordBytes === 1 && readBits === 8;
  return [
    form && !isSample && formWarning(file.name, form, readBits === 1),
    tooFewWarning(samples.length),
  ].filter((warning) => typeof warning === 'string');
}

function notesOn({ samples, isPart }: ReadSamples, warnings: readonly string[]): string[] {
  return [
    ...(isPart ? [`From the first ${grouped(samples.length)} samples.`] : []),
    ...warnings.map(warningSentence),
  ];
}

/** Throws if the samples are too wide, or if the skipped bits end within one. */
function samplingOf({ file, format, offset, samples, width: chosen }: EntropyRequest): Sampling {
  if (samples === 'bits') return { reader: openReader(file, format), width: 1, readBits: 1 };
  const width = chosen ?? 8;
  if (width > MAX_WIDTH) throw new Error(tooWideText(width));
  if (offset % width !== 0) {
    throw new Error(
      `the bits to skip must be a multiple of ${width}, the bits of a sample; they are ${offset}.`,
    );
  }
  const reader = openReader(file, format, { isSpread: true });
  return { reader, width, readBits: 8, ...(chosen !== null && { bitsPerSymbol: chosen }) };
}

/** Returns why there is no estimate of values of this width. */
function tooWideText(width: number): string {
  return `SP 800-90B estimates samples of at most ${MAX_WIDTH} bits, and these values have ${width}. Reduce them as in section 6.4.`;
}

async function readSamples(
  { reader, width, readBits }: Sampling,
  offset: number,
): Promise<ReadSamples> {
  await skipBits(reader, (offset / width) * readBits);
  const sequence = await reader.readSequence(MAX_SAMPLES * readBits);
  const consumed = reader.consumed();
  const isPart = (await reader.readSequence(readBits)).bits === readBits;
  const { bytes, offsetBits, bits } = sequence;
  const head = bytes.subarray(0, Math.ceil((offsetBits + bits) / 8));
  const samples = readBits === 1 ? unpack(sequence) : bytes.subarray(0, bits >>> 3);
  return { samples, isPart, head, consumed };
}

function unpack({ bytes, offsetBits, bits }: InputSequence): Uint8Array {
  return Uint8Array.from({ length: bits }, (_, i) => {
    const at = offsetBits + i;
    return ((bytes[at >>> 3] as number) >>> (7 - (at & 7))) & 1;
  });
}

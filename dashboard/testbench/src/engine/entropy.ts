/** Estimates the min-entropy of a file's samples, as `phm assess-entropy` does. */

import {
  type InputSequence,
  openReader,
  type SequenceReader,
  skipBits,
} from '../../../../packages/sp800-22/src/assess/index.ts';
import { grouped } from '../../../../packages/sp800-22/src/grouped.ts';
import { Sha256 } from '../../../../packages/sp800-22/src/sha256.ts';
import { assessNonIid, type EstimatorProgress } from '../../../../packages/sp800-90b/src/index.ts';
import { claimJson, claimText, initialClaim } from '../../../../src/cli/assess/entropy-claim.ts';
import {
  entropyJson,
  formatEntropyText,
  tooFewWarning,
} from '../../../../src/cli/assess/entropy-report.ts';
import { PROGRAM } from './build-facts.ts';
import { type EntropyRequest, type EntropyResult, MAX_SAMPLES, MAX_WIDTH } from './messages.ts';
import { formatOf } from './run.ts';
import { hasNumbers, openNumbers, openSource } from './source.ts';

/** How samples are found in the input. */
interface Sampling {
  readonly reader: SequenceReader;
  /** Bits of a sample in the input, and in what the reader yields. */
  readonly width: number;
  readonly readBits: 1 | 8;
  /** Undefined: the bits of the largest sample. */
  readonly bitsPerSymbol?: number;
}

export async function estimateEntropy(
  request: EntropyRequest,
  onProgress: (progress: EstimatorProgress) => void,
): Promise<EntropyResult> {
  const sampling = samplingOf(request);
  const { reader, readBits, bitsPerSymbol } = sampling;
  const read = await readSamples(sampling, request.offset).finally(() => reader.close());
  const samples = read.subarray(0, MAX_SAMPLES);
  if (samples.length < 2) throw new Error('the file contains fewer than 2 samples.');
  const isPart = read.length > MAX_SAMPLES;
  const options = bitsPerSymbol === undefined ? {} : { bitsPerSymbol };
  const result = assessNonIid(samples, { ...options, onProgress });
  const claim = initialClaim(undefined, result.minEntropyPerSymbol);
  const hash = new Sha256();
  hash.update(samples);
  const input = {
    name: request.file.name,
    samples: samples.length,
    sha256: hash.hex(),
    subset: isPart ? { index: 0, samples: MAX_SAMPLES } : null,
    packed: readBits === 1,
    program: PROGRAM,
    ...(request.offset > 0 && { offset_bits: request.offset }),
  };
  const json = `${JSON.stringify({ input, ...entropyJson(result), ...claimJson(claim) })}\n`;
  const text = `${formatEntropyText(result)}${claimText(claim)}`;
  return { kind: 'entropy', notes: notesOn(samples.length, isPart), text, json };
}

function notesOn(samples: number, isPart: boolean): string[] {
  const warning = tooFewWarning(samples);
  return [
    ...(isPart ? [`From the first ${grouped(samples)} samples.`] : []),
    ...(warning === null ? [] : [`${warning.trim().replace(/^warning: /, '')}.`]),
  ];
}

/** Throws if the samples are too wide, or if the skipped bits end within one. */
function samplingOf({ file, recipe, offset, samples }: EntropyRequest): Sampling {
  if (samples === 'bits') {
    return {
      reader: openReader(openSource(file, recipe), formatOf(recipe)),
      ...{ width: 1, readBits: 1, bitsPerSymbol: 1 },
    };
  }
  const isOfNumbers = hasNumbers(recipe.encoding);
  const width = isOfNumbers ? recipe.bitsPerValue : 8;
  if (width > MAX_WIDTH) throw new Error(tooWideText(width));
  if (offset % width !== 0) {
    throw new Error(
      `the bits to skip must be a multiple of ${width}, the bits of a sample; they are ${offset}.`,
    );
  }
  const reader = isOfNumbers
    ? openReader(openNumbers(file, recipe))
    : openReader(openSource(file, recipe), formatOf(recipe));
  return { reader, width, readBits: 8, ...(isOfNumbers && { bitsPerSymbol: width }) };
}

/** Returns why there is no estimate of values of this width. */
function tooWideText(width: number): string {
  return `SP 800-90B estimates samples of at most ${MAX_WIDTH} bits, and these values have ${width}. Reduce them as in section 6.4.`;
}

/** Reads one sample more than the estimators get, if there is one. Returns one in each byte. */
async function readSamples(
  { reader, width, readBits }: Sampling,
  offset: number,
): Promise<Uint8Array> {
  await skipBits(reader, (offset / width) * readBits);
  const sequence = await reader.readSequence((MAX_SAMPLES + 1) * readBits);
  return readBits === 1 ? unpack(sequence) : sequence.bytes.subarray(0, sequence.bits >>> 3);
}

function unpack({ bytes, offsetBits, bits }: InputSequence): Uint8Array {
  return Uint8Array.from({ length: bits }, (_, i) => {
    const at = offsetBits + i;
    return ((bytes[at >>> 3] as number) >>> (7 - (at & 7))) & 1;
  });
}

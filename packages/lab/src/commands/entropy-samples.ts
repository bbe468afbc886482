/** Reads the samples of `phm assess-entropy`: one a byte, or packed bits; all of them, or a subset. */

import { InvalidArgumentError } from 'commander';
import { CommandError } from '../../../platform/src/commands/index.ts';
import { grouped } from '../../../sp800-22/src/index.ts';
import {
  firstTooWide,
  IID_MINIMUM_SAMPLES,
  MAX_ASSESSED_BITS,
  RESTARTS,
} from '../../../sp800-90b/src/index.ts';
import { bitsText } from '../entropy/figures.ts';
import { recogniseForm } from '../input/input-format.ts';
import type { InputFormat } from '../input/open.ts';
import { type SequenceReader, skipBits } from '../input/reader.ts';
import type { RecognisedForm } from '../input/recognised-form.ts';
import { openInput } from './file-input.ts';
import { type InputRead, readOf } from './file-run.ts';
import { inputName } from './input-name.ts';
import { type InputUse, otherFormError } from './other-form.ts';

export const MAX_BITS_PER_SYMBOL = 8;

/** The `index`th part of `samples` samples, counted from 0. */
interface Subset {
  readonly index: number;
  readonly samples: number;
}

export interface SampleFlags {
  readonly bitsPerSymbol?: number;
  readonly packed?: boolean;
  readonly subset?: Subset;
  /** How the input holds its samples. */
  readonly format?: InputFormat;
}

/** Samples, and what was read to get them. */
export interface ReadSamples {
  /** One a byte. */
  readonly samples: Uint8Array;
  /** What the first bytes read as samples look like if they are hardly noise. Only with `format` they are read. */
  readonly looksLike: RecognisedForm | null;
  readonly input: InputRead;
}

/** Reads the samples, which the caller MUST wipe. Refuses those that are too wide or too many. */
export async function readSamples(
  file: string,
  flags: SampleFlags,
  launcher: string,
): Promise<ReadSamples> {
  const use = { launcher, words: 'assess-entropy', samples: true };
  const read = await readAll(file, flags, use);
  try {
    const { looksLike } = read;
    if (looksLike && flags.format === undefined) {
      throw otherFormError(file, { form: looksLike, within: read.input.format }, use);
    }
    assertComplete(file, read, flags);
    if (read.samples.length < 2) {
      throw new CommandError(`${inputName(file)} contains fewer than 2 samples`, 1);
    }
    refuseTooWide(file, read.samples, flags.bitsPerSymbol);
    return read;
  } catch (error) {
    read.samples.fill(0);
    throw error;
  }
}

/** Refuses a part that the input does not contain as a whole. */
function assertComplete(
  file: string,
  { samples, input }: ReadSamples,
  { subset, packed = false }: SampleFlags,
): void {
  if (!subset || samples.length === subset.samples) return;
  const { index, samples: wanted } = subset;
  const part = `${grouped(samples.length)} of the ${grouped(wanted)} samples of --subset ${index},${wanted}`;
  const all =
    input.format === 'binary'
      ? `: it has ${grouped(input.bytes * (packed ? 8 : 1))} samples in all`
      : '';
  throw new CommandError(
    `${inputName(file)} contains ${part}${all}; name a part that is complete`,
    1,
  );
}

/** A byte that is 0 or 1 is a sample, unless each of its bits is one. */
function isSample({ wordBytes }: RecognisedForm, packed: boolean): boolean {
  return wordBytes === 1 && !packed;
}

async function readAll(
  file: string,
  { bitsPerSymbol = MAX_BITS_PER_SYMBOL, packed = false, subset, format }: SampleFlags,
  use: InputUse,
): Promise<ReadSamples> {
  const width = packed ? 1 : bitsPerSymbol;
  const limit = Math.floor(MAX_ASSESSED_BITS / width);
  if (subset && subset.samples > limit) throw tooMany('--subset', limit);
  const accepts = (form: RecognisedForm): boolean => isSample(form, packed);
  const reader = await openInput(file, format, { ...use, accepts, isSpread: !packed });
  try {
    await reader.prepare?.();
    const isBits = packed || holdsDigits(reader.format);
    const inputBits = isBits ? 1 : 8;
    if (subset) await skipBits(reader, subset.index * subset.samples * inputBits);
    const size = subset?.samples ?? samplesIn(reader, inputBits, limit);
    // Without a subset, one extra sample reveals an input that is too long.
    const sequence = await reader.readSequence((subset ? size : size + 1) * inputBits);
    const { bytes, offsetBits, bits } = sequence;
    if (bits / inputBits > limit) {
      bytes.fill(0);
      throw tooMany(inputName(file), limit);
    }
    await reader.finish?.();
    const head = bytes.subarray(0, Math.ceil((offsetBits + bits) / 8));
    const isChosen = format !== undefined && format !== 'binary';
    const form = isChosen ? null : recogniseForm(head);
    return {
      looksLike: form && !isSample(form, packed) ? form : null,
      samples: isBits ? unpack(bytes, offsetBits, bits) : bytes.subarray(0, bits / 8),
      input: readOf(reader),
    };
  } finally {
    await reader.close();
  }
}

/** Each digit of a text of digits 0 and 1 is a sample. */
function holdsDigits(format: string): boolean {
  return /(?:^|:)ascii$/.test(format);
}

function samplesIn({ sizeBits }: SequenceReader, inputBits: number, limit: number): number {
  return Math.min(sizeBits === undefined ? limit : sizeBits / inputBits, limit);
}

function tooMany(name: string, limit: number): CommandError {
  return new CommandError(
    `${name} contains more than ${grouped(limit)} samples; assess a part with --subset 0,${limit}`,
    1,
  );
}

/** Returns one bit a byte, and wipes the packed ones. */
function unpack(bytes: Uint8Array, offsetBits: number, bits: number): Uint8Array {
  const samples = new Uint8Array(bits);
  for (let i = 0, at = offsetBits; i < bits; i++, at++) {
    samples[i] = (bytes[at >>> 3] >> (7 - (at & 7))) & 1;
  }
  bytes.fill(0);
  return samples;
}

function refuseTooWide(
  file: string,
  samples: Uint8Array,
  bitsPerSymbol: number = MAX_BITS_PER_SYMBOL,
): void {
  const offset = firstTooWide(samples, bitsPerSymbol);
  if (offset < 0) return;
  throw new CommandError(
    `${inputName(file)}: the sample at offset ${offset} has more than ${bitsText(bitsPerSymbol)}; raise --bits-per-symbol, or write one sample per byte, in its low bits`,
    1,
  );
}

export function assertTestable(file: string, samples: Uint8Array): void {
  const name = inputName(file);
  if (samples.length < IID_MINIMUM_SAMPLES) {
    const wanted = grouped(IID_MINIMUM_SAMPLES);
    throw new CommandError(
      `${name} contains ${grouped(samples.length)} samples; --iid needs at least ${wanted}`,
      1,
    );
  }
  if (samples.every((sample) => sample === samples[0])) {
    throw new CommandError(`${name}: all samples are equal; there is no entropy to test`, 1);
  }
}

/** Refuses `--truncate` where no bit string is assessed that it could shorten. */
export function assertTruncatable(samples: Uint8Array): void {
  const [first] = samples;
  const second = samples.find((sample) => sample !== first);
  if (samples.some((sample) => sample !== first && sample !== second)) return;
  throw new CommandError(
    '--truncate shortens the bit string, which is not assessed for samples of one or two values: leave it out',
    2,
  );
}

export function assertMatrix(file: string, samples: Uint8Array): void {
  const wanted = RESTARTS * RESTARTS;
  if (samples.length === wanted) return;
  throw new CommandError(
    `${inputName(file)} contains ${grouped(samples.length)} samples; --restart needs exactly ${grouped(wanted)}: ${grouped(RESTARTS)} from each of ${grouped(RESTARTS)} restarts`,
    1,
  );
}

export function parseSubset(text: string): Subset {
  const match = /^(\d{1,9}),([1-9]\d{0,9})$/.exec(text);
  if (!match) {
    throw new InvalidArgumentError('use INDEX,SAMPLES, such as 0,1000000 for the first million.');
  }
  return { index: Number(match[1]), samples: Number(match[2]) };
}

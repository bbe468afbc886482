/** Reads the samples of `phm assess-entropy`: one a byte, or packed bits; all of them, or a subset. */
import { InvalidArgumentError } from 'commander';
import type { SequenceReader } from '#sp800-22/assess';
import { grouped } from '#sp800-22/report';
import {
  bitsOfGreatest,
  firstTooWide,
  IID_MINIMUM_SAMPLES,
  MAX_ASSESSED_BITS,
  RESTARTS,
} from '#sp800-90b';
import { wipe } from '../../bytes.ts';
import { CommandError } from '../command-error.ts';
import { inputName, openInput } from './input.ts';

export const MAX_BITS_PER_SYMBOL = 8;

/** Bits of samples that are skipped at once. */
const SKIPPED_BITS = 2 ** 23;

/** The `index`th part of `samples` samples, counted from 0. */
export interface Subset {
  readonly index: number;
  readonly samples: number;
}

export interface SampleFlags {
  readonly bitsPerSymbol?: number;
  readonly packed?: boolean;
  readonly subset?: Subset;
}

/** Reads the samples, one a byte, which the caller MUST wipe. Refuses those that are too wide or too many. */
export async function readSamples(file: string, flags: SampleFlags): Promise<Uint8Array> {
  const samples = await read(file, flags);
  assertComplete(file, samples, flags.subset);
  if (samples.length < 2)
    throw new CommandError(`${inputName(file)} contains fewer than 2 samples`, 1);
  try {
    refuseTooWide(file, samples, flags.bitsPerSymbol);
    return samples;
  } catch (error) {
    wipe(samples);
    throw error;
  }
}

function assertComplete(file: string, samples: Uint8Array, subset: Subset | undefined): void {
  if (!subset || samples.length === subset.samples) return;
  const { index, samples: wanted } = subset;
  const got = samples.length;
  wipe(samples);
  throw new CommandError(
    `${inputName(file)} contains ${grouped(got)} of the ${grouped(wanted)} samples of --subset ${index},${wanted}; name a part that is complete`,
    1,
  );
}

async function read(
  file: string,
  { bitsPerSymbol = MAX_BITS_PER_SYMBOL, packed = false, subset }: SampleFlags,
): Promise<Uint8Array> {
  const width = packed ? 1 : bitsPerSymbol;
  const limit = Math.floor(MAX_ASSESSED_BITS / width);
  const inputBits = packed ? 1 : 8;
  if (subset && subset.samples > limit) throw tooMany('--subset', limit);
  const reader = await openInput(file, 'binary');
  try {
    if (subset) await skip(reader, subset.index * subset.samples * inputBits);
    const size = subset?.samples ?? samplesIn(reader, inputBits, limit);
    // Without a subset, one extra sample reveals an input that is too long.
    const sequence = await reader.readSequence((subset ? size : size + 1) * inputBits);
    const { bytes, offsetBits, bits } = sequence;
    if (bits / inputBits > limit) {
      wipe(bytes);
      throw tooMany(inputName(file), limit);
    }
    return packed ? unpack(bytes, offsetBits, bits) : bytes.subarray(0, bits / 8);
  } finally {
    await reader.close();
  }
}

function samplesIn({ sizeBytes }: SequenceReader, inputBits: number, limit: number): number {
  return Math.min(sizeBytes === undefined ? limit : (sizeBytes * 8) / inputBits, limit);
}

function tooMany(name: string, limit: number): CommandError {
  return new CommandError(
    `${name} contains more than ${grouped(limit)} samples; assess a part with --subset 0,${limit}`,
    1,
  );
}

async function skip(reader: SequenceReader, bits: number): Promise<void> {
  let left = bits;
  while (left > 0) {
    const sequence = await reader.readSequence(Math.min(left, SKIPPED_BITS));
    wipe(sequence.bytes);
    if (sequence.bits === 0) return;
    left -= sequence.bits;
  }
}

/** Returns one bit a byte, and wipes the packed ones. */
function unpack(bytes: Uint8Array, offsetBits: number, bits: number): Uint8Array {
  const samples = new Uint8Array(bits);
  for (let i = 0, at = offsetBits; i < bits; i++, at++) {
    samples[i] = (bytes[at >>> 3] >> (7 - (at & 7))) & 1;
  }
  wipe(bytes);
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
    `${inputName(file)}: the sample at offset ${offset} has more than ${bitsPerSymbol} bits; raise --bits-per-symbol, or write one sample per byte, in its low bits`,
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

export function assertMatrix(
  file: string,
  samples: Uint8Array,
  {
    packed = false,
    bitsPerSymbol = packed ? 1 : bitsOfGreatest(samples),
    initialEntropy = 0,
  }: SampleFlags & { readonly initialEntropy?: number },
): void {
  const wanted = RESTARTS * RESTARTS;
  if (samples.length !== wanted) {
    throw new CommandError(
      `${inputName(file)} contains ${grouped(samples.length)} samples; --restart needs exactly ${grouped(wanted)}: ${grouped(RESTARTS)} from each of ${grouped(RESTARTS)} restarts`,
      1,
    );
  }
  if (initialEntropy > bitsPerSymbol) {
    throw new CommandError(
      `--initial-entropy is in bits per symbol: use at most ${bitsPerSymbol}, the bits of a symbol; got ${initialEntropy}`,
      2,
    );
  }
}

export function parseSubset(text: string): Subset {
  const match = /^(\d{1,9}),([1-9]\d{0,9})$/.exec(text);
  if (!match) {
    throw new InvalidArgumentError('use INDEX,SAMPLES, such as 0,1000000 for the first million.');
  }
  return { index: Number(match[1]), samples: Number(match[2]) };
}

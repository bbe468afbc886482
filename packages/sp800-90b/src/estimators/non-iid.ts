/**
 * The non-IID track: NIST SP 800-90B §3.1.3 with the estimators of §6.3, on samples that are known or
 * feared not to be independent and identically distributed. https://doi.org/10.6028/NIST.SP.800-90B
 *
 * Where the text leaves something open or NIST's program ea_non_iid does other than the text, this does
 * as the program, and the line says so.
 */
import { type Estimate, type NotApplicable, notApplicable } from './_estimate.ts';
import { countTuples, type TupleCounts } from './_tuple-counts.ts';
import { collisionEstimate } from './collision.ts';
import { compressionEstimate } from './compression.ts';
import { lagEstimate } from './lag.ts';
import { longestRepeatedSubstringEstimate } from './longest-repeated-substring.ts';
import { lz78yEstimate } from './lz78y.ts';
import { markovEstimate } from './markov.ts';
import { mostCommonValueEstimate } from './most-common-value.ts';
import { multiMcwEstimate } from './multi-mcw.ts';
import { multiMmcEstimate } from './multi-mmc.ts';
import { tTupleEstimate } from './t-tuple.ts';

export type { Estimate, NotApplicable } from './_estimate.ts';

/** §3.1.1: the samples an assessment needs. Fewer are assessed too; the caller says so. */
export const ASSESSMENT_SAMPLES = 1_000_000;

/**
 * Samples times bits per symbol. Counts are exact up to here (`countTuples`), and 1.3 GB of memory hold
 * the suffix array of the bits.
 */
export const MAX_ASSESSED_BITS: number = 2 ** 27;

export const MAX_BITS_PER_SYMBOL = 8;

export const ESTIMATOR_NAMES = [
  'most_common_value',
  'collision',
  'markov',
  'compression',
  't_tuple',
  'longest_repeated_substring',
  'multi_mcw',
  'lag',
  'multi_mmc',
  'lz78y',
] as const;

export type EstimatorName = (typeof ESTIMATOR_NAMES)[number];

/** An estimate with the intermediate values of its estimator, or why there is none. */
export type Outcome =
  | (Estimate & { readonly [figure: string]: number | boolean | null })
  | NotApplicable;

export type Outcomes = Readonly<Record<EstimatorName, Outcome>>;

export interface NonIidAssessment {
  readonly samples: number;
  readonly bitsPerSymbol: number;
  /** Different symbols among the samples. */
  readonly alphabetSize: number;
  /** On the samples as they are. */
  readonly literal: Outcomes;
  /** On their bits, most significant first; `null` for samples of one bit or two values. */
  readonly bitstring: Outcomes | null;
  /** Bits a symbol: the smallest estimate of `literal`. */
  readonly hOriginal: number;
  /** Bits a bit: the smallest estimate of `bitstring`. */
  readonly hBitstring: number | null;
  /** §3.1.3: min(H_original, bitsPerSymbol · H_bitstring). */
  readonly minEntropyPerSymbol: number;
}

/** What runs now: an estimator, and the number of those that have ended. */
export interface EstimatorProgress {
  readonly estimator: EstimatorName;
  readonly input: string;
  readonly finished: number;
  readonly total: number;
}

export type OnProgress = (progress: EstimatorProgress) => void;

export interface NonIidOptions {
  /** 1 to 8; the bits of the greatest sample unless given, as NIST's program. */
  readonly bitsPerSymbol?: number;
  readonly onProgress?: OnProgress;
}

/**
 * Assesses one sample a byte, in the low bits. Throws `RangeError` when a sample does not fit, or for
 * none or too many of them. `samples` stay the caller's; copies are wiped.
 */
export function assessNonIid(samples: Uint8Array, options: NonIidOptions = {}): NonIidAssessment {
  const { bitsPerSymbol = bitsOfGreatest(samples), onProgress } = options;
  assertSamples(samples, bitsPerSymbol);
  const { symbols, alphabetSize } = mapDown(samples);
  // As NIST's program: two values are a binary input, whatever bits they came in, and their bit
  // string is not assessed.
  const bits = alphabetSize > 2 ? toBits(samples, bitsPerSymbol) : null;
  try {
    const progress = progressOf(onProgress, bits ? 2 : 1);
    const bitstring = bits && estimate(bits, 2, (name) => progress(name, 'bits'));
    const literal = estimate(symbols, alphabetSize, (name) => progress(name, 'symbols'));
    const hOriginal = Math.min(bitsPerSymbol, smallest(literal));
    const hBitstring = bitstring && Math.min(1, smallest(bitstring));
    const minEntropyPerSymbol = Math.min(hOriginal, bitsPerSymbol * (hBitstring ?? 1));
    const { length } = samples;
    return {
      samples: length,
      bitsPerSymbol,
      alphabetSize,
      literal,
      bitstring,
      hOriginal,
      hBitstring,
      minEntropyPerSymbol,
    };
  } finally {
    symbols.fill(0);
    bits?.fill(0);
  }
}

/** The reports of `runs` runs of all estimators, one after the other. */
export function progressOf(
  onProgress: OnProgress | undefined,
  runs: number,
): (estimator: EstimatorName, input: string) => void {
  let finished = 0;
  const total = runs * ESTIMATOR_NAMES.length;
  return (estimator, input) => onProgress?.({ estimator, input, finished: finished++, total });
}

/** Runs every estimator on symbols from 0 to `alphabetSize` − 1, each of which occurs. */
export function estimate(
  symbols: Uint8Array,
  alphabetSize: number,
  onStart: (estimator: EstimatorName) => void,
): Outcomes {
  let tuples: TupleCounts | undefined;
  const countedTuples = (): TupleCounts => {
    tuples ??= countTuples(symbols, alphabetSize);
    return tuples;
  };
  const onBits = <T>(estimator: (bits: Uint8Array) => T): T | NotApplicable =>
    alphabetSize <= 2 ? estimator(symbols) : notApplicable('for binary input only');
  const estimators: Record<EstimatorName, () => Estimate | NotApplicable> = {
    most_common_value: () => mostCommonValueEstimate(symbols, alphabetSize),
    collision: () => onBits(collisionEstimate),
    markov: () => onBits(markovEstimate),
    compression: () => onBits(compressionEstimate),
    t_tuple: () => tTupleEstimate(countedTuples()),
    longest_repeated_substring: () => longestRepeatedSubstringEstimate(countedTuples()),
    multi_mcw: () => multiMcwEstimate(symbols, alphabetSize),
    lag: () => lagEstimate(symbols, alphabetSize),
    multi_mmc: () => multiMmcEstimate(symbols, alphabetSize),
    lz78y: () => lz78yEstimate(symbols, alphabetSize),
  };
  const outcomes = ESTIMATOR_NAMES.map((name) => {
    onStart(name);
    return [name, estimators[name]()];
  });
  return Object.fromEntries(outcomes);
}

/** The smallest estimate; infinite when no estimator applied. */
export function smallest(outcomes: Outcomes): number {
  const estimates = Object.values(outcomes).map((outcome) =>
    outcome.applicable ? outcome.minEntropy : Infinity,
  );
  return Math.min(...estimates);
}

/**
 * As NIST's program: where symbols are missing the others move together, in their order, so that an
 * estimator's 1/k speaks of the symbols there are.
 */
export function mapDown(samples: Uint8Array): { symbols: Uint8Array; alphabetSize: number } {
  const table = new Uint8Array(256);
  for (let i = 0; i < samples.length; i++) table[samples[i]] = 1;
  let alphabetSize = 0;
  for (let symbol = 0; symbol < 256; symbol++) {
    if (table[symbol] === 1) table[symbol] = alphabetSize++;
  }
  const symbols = new Uint8Array(samples.length);
  for (let i = 0; i < samples.length; i++) symbols[i] = table[samples[i]];
  return { symbols, alphabetSize };
}

/** §3.1.3: all bits of all samples, one a byte. NIST's program cuts them to 1,000,000 on request only. */
function toBits(samples: Uint8Array, bitsPerSymbol: number): Uint8Array {
  const bits = new Uint8Array(samples.length * bitsPerSymbol);
  for (let i = 0, to = 0; i < samples.length; i++) {
    for (let shift = bitsPerSymbol - 1; shift >= 0; shift--) bits[to++] = (samples[i] >> shift) & 1;
  }
  return bits;
}

/** As NIST's program takes it where the width of samples is not given. */
export function bitsOfGreatest(samples: Uint8Array): number {
  let used = 1;
  for (let i = 0; i < samples.length; i++) used |= samples[i];
  return 32 - Math.clz32(used);
}

/** Throws `RangeError`; its message names where a sample is, never the sample. */
export function assertSamples(samples: Uint8Array, bitsPerSymbol: number): void {
  if (
    !Number.isInteger(bitsPerSymbol) ||
    bitsPerSymbol < 1 ||
    bitsPerSymbol > MAX_BITS_PER_SYMBOL
  ) {
    throw new RangeError(
      `"bitsPerSymbol" expected an integer from 1 to ${MAX_BITS_PER_SYMBOL}, got ${bitsPerSymbol}`,
    );
  }
  if (samples.length < 2 || samples.length * bitsPerSymbol > MAX_ASSESSED_BITS) {
    const most = Math.floor(MAX_ASSESSED_BITS / bitsPerSymbol);
    throw new RangeError(
      `"samples" expected from 2 to ${most} samples of ${bitsPerSymbol} bits, got ${samples.length}`,
    );
  }
  const offset = firstTooWide(samples, bitsPerSymbol);
  if (offset >= 0) {
    throw new RangeError(
      `"samples" expected symbols below ${2 ** bitsPerSymbol}, got a greater one at offset ${offset}`,
    );
  }
}

/** Where the first sample of more than `bitsPerSymbol` bits is; −1 when all fit. */
export function firstTooWide(samples: Uint8Array, bitsPerSymbol: number): number {
  return samples.findIndex((sample) => sample >>> bitsPerSymbol !== 0);
}

/**
 * The non-IID track: NIST SP 800-90B §3.1.3 with the estimators of §6.3, for samples that may not
 * be independent and identically distributed. https://doi.org/10.6028/NIST.SP.800-90B
 *
 * Where the text leaves a choice, or NIST's program ea_non_iid departs from it, this code follows
 * the program. A comment marks each such line.
 */
import {
  assertOptions,
  assertUint8Array,
  type Check,
  callback,
  integer,
  type Members,
} from '../../../sp800-22/src/arguments.ts';
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

/** §3.1.1: samples needed for an assessment. Fewer are also assessed; the caller reports it. */
export const ASSESSMENT_SAMPLES = 1_000_000;

/**
 * Limit for samples times bits per symbol. Positions fit 32 bits, and the suffix array of the bits
 * needs about 10 bytes for each: 11 GB at the limit.
 */
export const MAX_ASSESSED_BITS: number = 2 ** 30;

const MAX_BITS_PER_SYMBOL = 8;

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

/** An estimate with the intermediate values of its estimator, or the reason why there is none. */
export type Outcome =
  | (Estimate & { readonly [figure: string]: number | boolean | null })
  | NotApplicable;

export type Outcomes = Readonly<Record<EstimatorName, Outcome>>;

export interface NonIidAssessment {
  readonly samples: number;
  readonly bitsPerSymbol: number;
  /** Number of different symbols among the samples. */
  readonly alphabetSize: number;
  /** Outcomes on the samples. */
  readonly literal: Outcomes;
  /**
   * Outcomes on the bits of the samples, most significant first; `null` for samples of one bit or
   * two values.
   */
  readonly bitstring: Outcomes | null;
  /** Assessed bits of the bit string; `null` without one. */
  readonly bitstringBits: number | null;
  /** Bits per symbol: the smallest estimate of `literal`. */
  readonly hOriginal: number;
  /** Bits per bit: the smallest estimate of `bitstring`. */
  readonly hBitstring: number | null;
  /** §3.1.3: min(H_original, bitsPerSymbol · H_bitstring). */
  readonly minEntropyPerSymbol: number;
}

/** The estimator that runs now, and the number of finished ones. */
export interface EstimatorProgress {
  readonly estimator: EstimatorName;
  readonly input: string;
  readonly finished: number;
  readonly total: number;
}

export type OnProgress = (progress: EstimatorProgress) => void;

export interface NonIidOptions {
  /** 1 to 8. The default is the width of the greatest sample, as in NIST's program. */
  readonly bitsPerSymbol?: number;
  /** Bits of the bit string; the default is all. */
  readonly bitstringLimit?: number;
  readonly onProgress?: OnProgress;
}

/** The check of `bitsPerSymbol`. */
export const BITS_PER_SYMBOL: Check = integer(1, MAX_BITS_PER_SYMBOL);

/** The check of `bitstringLimit`. */
export const BITSTRING_LIMIT: Check = integer(1, Number.MAX_SAFE_INTEGER);

const OPTIONS: Members<NonIidOptions> = {
  bitsPerSymbol: BITS_PER_SYMBOL,
  bitstringLimit: BITSTRING_LIMIT,
  onProgress: callback,
};

/**
 * Assesses samples, one per byte in the low bits. Throws `TypeError` unless they are a `Uint8Array`,
 * and `RangeError` if a sample does not fit, or if there are none or too many. The caller owns
 * `samples`; copies are wiped.
 */
export function assessNonIid(samples: Uint8Array, options: NonIidOptions = {}): NonIidAssessment {
  assertOptions('options', options, OPTIONS);
  const { bitsPerSymbol = bitsOfGreatest(samples), bitstringLimit, onProgress } = options;
  assertSamples(samples, bitsPerSymbol);
  const { symbols, alphabetSize } = mapDown(samples);
  // As in NIST's program: two values are a binary input, whatever their bits, and their bit string
  // is not assessed.
  const bits = alphabetSize > 2 ? toBits(samples, bitsPerSymbol, bitstringLimit) : null;
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
      bitstringBits: bits?.length ?? null,
      hOriginal,
      hBitstring,
      minEntropyPerSymbol,
    };
  } finally {
    symbols.fill(0);
    bits?.fill(0);
  }
}

export interface ConditionedAssessment {
  readonly samples: number;
  readonly bitsPerSymbol: number;
  /** Assessed bits. */
  readonly bits: number;
  readonly bitstring: Outcomes;
  /** h': bits of entropy per bit. */
  readonly hPrime: number;
}

/**
 * Returns h' of §3.1.5.2, from output of a conditioning component that is not vetted: the smallest
 * estimate on its bits. Arguments, errors and copies are those of `assessNonIid`.
 */
export function assessConditioned(
  samples: Uint8Array,
  options: NonIidOptions = {},
): ConditionedAssessment {
  assertOptions('options', options, OPTIONS);
  const { bitsPerSymbol = bitsOfGreatest(samples), bitstringLimit, onProgress } = options;
  assertSamples(samples, bitsPerSymbol);
  const bits = toBits(samples, bitsPerSymbol, bitstringLimit);
  try {
    const progress = progressOf(onProgress, 1);
    const bitstring = estimate(bits, 2, (name) => progress(name, 'bits'));
    const hPrime = Math.min(1, smallest(bitstring));
    return { samples: samples.length, bitsPerSymbol, bits: bits.length, bitstring, hPrime };
  } finally {
    bits.fill(0);
  }
}

/** Returns the progress reporter for `runs` successive runs of all estimators. */
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

/** Returns the smallest estimate, or Infinity if no estimator applied. */
export function smallest(outcomes: Outcomes): number {
  const estimates = Object.values(outcomes).map((outcome) =>
    outcome.applicable ? outcome.minEntropy : Infinity,
  );
  return Math.min(...estimates);
}

/**
 * Renumbers the symbols in order without gaps, as NIST's program does, so that an estimator's 1/k
 * refers to the symbols that occur.
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

/**
 * §3.1.3: returns the bits of the samples, one per byte, up to `limit`. NIST's program cuts them to
 * 1,000,000 only on request.
 */
export function toBits(
  samples: Uint8Array,
  bitsPerSymbol: number,
  limit: number = Infinity,
): Uint8Array {
  const bits = new Uint8Array(Math.min(limit, samples.length * bitsPerSymbol));
  // Writes beyond the end of an array have no effect.
  for (let i = 0, to = 0; to < bits.length; i++) {
    for (let shift = bitsPerSymbol - 1; shift >= 0; shift--) bits[to++] = (samples[i] >> shift) & 1;
  }
  return bits;
}

/** Returns the width of the greatest sample, which NIST's program uses if no width is given. */
export function bitsOfGreatest(samples: Uint8Array): number {
  assertUint8Array('samples', samples);
  let used = 1;
  for (let i = 0; i < samples.length; i++) used |= samples[i];
  return 32 - Math.clz32(used);
}

/**
 * Throws `TypeError` unless samples are bytes, and `RangeError` if they are invalid. The message
 * names the position of a sample, never its value.
 */
export function assertSamples(samples: Uint8Array, bitsPerSymbol: number): void {
  assertUint8Array('samples', samples);
  BITS_PER_SYMBOL('bitsPerSymbol', bitsPerSymbol);
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

/** Returns the position of the first sample of more than `bitsPerSymbol` bits, or −1 if all fit. */
export function firstTooWide(samples: Uint8Array, bitsPerSymbol: number): number {
  assertUint8Array('samples', samples);
  BITS_PER_SYMBOL('bitsPerSymbol', bitsPerSymbol);
  return samples.findIndex((sample) => sample >>> bitsPerSymbol !== 0);
}

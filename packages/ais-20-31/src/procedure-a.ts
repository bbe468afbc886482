/**
 * Test procedure A (KS2011 §2.4.4.1): T0 once, then T1 to T5 on 257 sequences of 20,000 bits. It is for output that
 * should look like independent, unbiased bits: internal random numbers, or das-random numbers after postprocessing.
 *
 * Internal random numbers of w bits are also tested place by place: of w + 1 sequences, one is 20,000 bits in a row, and
 * w are the bits at one place of 20,000 numbers. The order is that of the BSI's reference program.
 */
import {
  assertInteger,
  assertOptions,
  integer,
  type Members,
} from '../../sp800-22/src/arguments.ts';
import { BIT_RANGE, type BitRange, unpack } from './bits.ts';
import { type ElementaryTest, evaluate, type ProcedureResult, runOf } from './result.ts';
import { autocorrelation } from './tests/autocorrelation.ts';
import { disjointness, WORD_BITS, WORDS } from './tests/disjointness.ts';
import { monobit, poker, runs, SEQUENCE_BITS } from './tests/sequence.ts';

const SEQUENCES = 257;

/** Widest random number, as in the BSI's reference program. */
export const MAXIMUM_WIDTH = 256;

/** Options of procedure A. */
interface ProcedureAOptions extends BitRange {
  /** Bits of an internal random number, 1 to 256. Default: 1. */
  readonly width?: number;
}

const OPTIONS: Members<ProcedureAOptions> = { ...BIT_RANGE, width: integer(1, MAXIMUM_WIDTH) };

/**
 * Runs procedure A on packed bits, the most significant of each byte first. It takes `procedureABits(width)` bits; a
 * repetition takes as many again. Throws `TypeError` on other arguments, and `RangeError` on fewer bits and another width.
 */
export function procedureA(bytes: Uint8Array, options: ProcedureAOptions = {}): ProcedureResult {
  assertOptions('options', options, OPTIONS);
  const { width = 1, ...range } = options;
  const needed = procedureABits(width);
  const bits = unpack(bytes, range, needed);
  try {
    return evaluate('A', (from) => {
      if (bits.length - from < needed) return runOf([], 0, {});
      return runOf(allTests(bits.subarray(from, from + needed), width), needed);
    });
  } finally {
    bits.fill(0);
  }
}

/** Returns how many bits one run of procedure A takes for numbers of `width` bits. */
export function procedureABits(width = 1): number {
  assertInteger('width', width, 1, MAXIMUM_WIDTH);
  return WORDS * strideBits(width) + sequencesOf(width).bits;
}

/** A word of T0 begins with a number. */
function strideBits(width: number): number {
  return Math.ceil(WORD_BITS / width) * width;
}

interface Sequence {
  readonly start: number;
  /** Distance of its bits. */
  readonly step: number;
  readonly on: string;
}

/** Places of the 257 sequences behind the words of T0, and how many bits they take. */
function sequencesOf(width: number): {
  readonly sequences: readonly Sequence[];
  readonly bits: number;
} {
  const sequences: Sequence[] = [];
  let start = 0;
  for (let i = 0; i < SEQUENCES; i++) {
    const place = i % (width + 1);
    if (place === 0) {
      sequences.push({ start, step: 1, on: `sequence ${i + 1}` });
      start += Math.ceil(SEQUENCE_BITS / width) * width;
    } else {
      const on =
        width === 1 ? `sequence ${i + 1}` : `sequence ${i + 1}, bit ${place} of each number`;
      sequences.push({ start: start + place - 1, step: width, on });
      if (place === width) start += SEQUENCE_BITS * width;
    }
  }
  const { start: lastStart, step } = sequences[SEQUENCES - 1];
  return { sequences, bits: Math.max(start, lastStart + step * (SEQUENCE_BITS - 1) + 1) };
}

function allTests(bits: Uint8Array, width: number): ElementaryTest[] {
  const stride = strideBits(width);
  const rest = bits.subarray(WORDS * stride);
  return [
    disjointness(bits, stride),
    ...sequencesOf(width).sequences.flatMap((sequence) => testsOf(rest, sequence)),
  ];
}

function testsOf(bits: Uint8Array, { start, step, on }: Sequence): ElementaryTest[] {
  const sequence = new Uint8Array(SEQUENCE_BITS);
  for (let i = 0; i < SEQUENCE_BITS; i++) sequence[i] = bits[start + i * step];
  const tests = [monobit(sequence), poker(sequence), ...runs(sequence), autocorrelation(sequence)];
  sequence.fill(0);
  return tests.map((test) => ({ ...test, on }));
}

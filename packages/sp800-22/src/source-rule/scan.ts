/**
 * A scan for a piece of another source within a sequence, such as the text header of a file. It is not part of SP 800-22,
 * whose tests see a sequence as a whole: 512 bytes of text in 2^20 bits are within the chance of all of them.
 *
 * The sequence is cut into windows of 256 bits, and of each power of two times as many; longer ones overlap by half. Each
 * window is counted in sixteen ways. For independent fair bits every count is binomial with probability 1/2, exactly: the
 * bits of one place of each byte, all bits, and the bits that differ from the bit some places earlier (with zeros before the
 * sequence, each x_i ⊕ x_(i−lag) has a bit of its own, so they are independent as well).
 *
 * So a p-value is the exact two-sided tail of the most extreme window times the number of all windows and measures: the
 * probability that it is at most x is at most x, however small x is.
 */
import { binomialTwoSided } from '../binomial.ts';
import { log1p } from '../elementary.ts';

/** Bits of the shortest window. */
export const WINDOW_BITS = 256;

/** Places of the measures "differs from the bit so many places earlier". */
const LAGS = [1, 8, 16, 24, 32, 64, 128] as const;

interface Measure {
  readonly name: string;
  /** Bits of a window that count once: each, or one of eight. */
  readonly step: 1 | 8;
}

/** In the order of the kernel's lanes. */
export const MEASURES: readonly Measure[] = [
  ...Array.from(
    { length: 8 },
    (_, i): Measure => ({ name: `ones in bit ${i + 1} of each byte`, step: 8 }),
  ),
  { name: 'ones', step: 1 },
  ...LAGS.map(
    (lag): Measure => ({
      name: `bits unlike the bit ${lag} ${lag === 1 ? 'place' : 'places'} earlier`,
      step: 1,
    }),
  ),
];

/** The most extreme window of one length and one measure. */
interface Extreme {
  readonly measure: number;
  /** The first bit of the window, from 0, and its bits. */
  readonly from: number;
  readonly bits: number;
  readonly count: number;
  readonly trials: number;
}

/** Counts of a sequence: of the most extreme windows, and of all windows of the shortest length. */
export interface ScanCounts {
  readonly extremes: readonly Extreme[];
  /** By measure: over all of `bits`. */
  readonly totals: readonly number[];
  /** Bits within whole windows. */
  readonly bits: number;
}

/** The part of a sequence that differs most from fair bits. */
interface Piece {
  readonly measure: string;
  /** The first bit of the piece in its sequence, from 0, and the number of its bits. */
  readonly from: number;
  readonly bits: number;
  /** How often the measure is true, of how many trials. */
  readonly count: number;
  readonly trials: number;
}

/** The scan of one sequence. */
export interface Scan {
  /** min(1, `compared` · the exact probability of a window like `piece`). */
  readonly p: number;
  /** Windows times measures. */
  readonly compared: number;
  readonly piece: Piece;
  /** By measure: counts over the sequence, for `walks.ts`. */
  readonly totals: readonly number[];
  readonly bits: number;
}

/** Returns the numbers of windows by length, the shortest first; empty for sequences that have none. */
export function windowsByLength(n: number): number[] {
  const numbers: number[] = [];
  for (let units = Math.floor(n / WINDOW_BITS), i = 0; i === 0 ? units >= 1 : units >= 2; i++) {
    numbers.push(i === 0 ? units : units - 1);
    if (i > 0) units = Math.floor(units / 2);
  }
  return numbers;
}

/** Returns the result of a sequence of `n` bits, or `undefined` if it has no window. */
export function judgeScan(n: number, { extremes, totals, bits }: ScanCounts): Scan | undefined {
  const [first, ...others] = extremes;
  if (!first) return undefined;
  const compared = MEASURES.length * windowsByLength(n).reduce((sum, windows) => sum + windows, 0);
  let worst = first;
  let most = surprise(first);
  for (const other of others) {
    const surprised = surprise(other);
    if (surprised > most) [worst, most] = [other, surprised];
  }
  const { measure, ...piece } = worst;
  const p = Math.min(1, compared * binomialTwoSided(worst.count, worst.trials, 0.5));
  return { p, compared, piece: { measure: MEASURES[measure].name, ...piece }, totals, bits };
}

/** Returns t · D(k/t ‖ 1/2): the logarithm of the tail's probability, but for small factors. */
function surprise({ count, trials }: Extreme): number {
  const x = (2 * count - trials) / trials;
  if (Math.abs(x) === 1) return trials * Math.LN2;
  return (trials / 2) * ((1 + x) * log1p(x) + (1 - x) * log1p(-x));
}

/** Counts one bit per element; the kernel does the same on packed bits. */
export function scanBits(sequence: Uint8Array): ScanCounts {
  const bits = Math.floor(sequence.length / WINDOW_BITS) * WINDOW_BITS;
  const numbers = windowsByLength(sequence.length);
  // One measure after the other, because the sums of a long sequence are large.
  const byMeasure = MEASURES.map((_, measure) => {
    const sums = runningSums(sequence, bits, measure);
    const extremes = numbers.map((n, i) => mostExtreme(sums, measure, n, i));
    const total = sums[bits];
    // Differences of the sums are the bits, which may be secret.
    sums.fill(0);
    return { total, extremes };
  });
  return {
    extremes: numbers.flatMap((_, i) => byMeasure.map(({ extremes }) => extremes[i])),
    totals: byMeasure.map(({ total }) => total),
    bits,
  };
}

/** Returns at i how often the measure is true before bit i. */
function runningSums(sequence: Uint8Array, bits: number, measure: number): Uint32Array {
  const isTrue = truthOf(sequence, measure);
  const sums = new Uint32Array(bits + 1);
  for (let i = 0; i < bits; i++) sums[i + 1] = sums[i] + isTrue(i);
  return sums;
}

function truthOf(sequence: Uint8Array, measure: number): (i: number) => number {
  if (measure < 8) return (i) => (i % 8 === measure ? sequence[i] : 0);
  if (measure === 8) return (i) => sequence[i];
  const lag = LAGS[measure - 9];
  return (i) => sequence[i] ^ (i < lag ? 0 : sequence[i - lag]);
}

/** Returns the most extreme of so many windows of the length with this index. */
function mostExtreme(
  sums: Uint32Array,
  measure: number,
  windows: number,
  lengthIndex: number,
): Extreme {
  const bits = WINDOW_BITS * 2 ** lengthIndex;
  const step = lengthIndex === 0 ? bits : bits / 2;
  const trials = bits / MEASURES[measure].step;
  let [most, place] = [0, 0];
  for (let i = 0; i < windows; i++) {
    const deviation = Math.abs(sums[i * step + bits] - sums[i * step] - trials / 2);
    if (deviation > most) [most, place] = [deviation, i];
  }
  const from = place * step;
  return { measure, from, bits, count: sums[from + bits] - sums[from], trials };
}

/**
 * Birthday spacings of words. Not part of SP 800-22.
 *
 * Words are birthdays in a year of 2^32 or 2^53 days. The spacings of a sorted group repeat rarely; the number of repeats is
 * Poisson with mean m³ / 4k for m birthdays and k days (Marsaglia and Tsang, J. Stat. Softw. 7:3, 2002). Congruential
 * generators repeat spacings, and a stream that repeats itself has spacings of 0. Words are read in both orders of bytes, and
 * those of 32 bits also from the first or second halves of two words: a generator of two parts shows in the half of one.
 */
import { exp, log } from '../elementary.ts';
import type { Statistics, TestResult } from '../result.ts';
import { igamc } from '../special-functions.ts';
import { corrected } from './bounds.ts';

/** m³ ≤ k^(5/4) / groups^(3/5): the condition of L’Ecuyer and Simard (2001) for the Poisson law. */
const GROUP = 2 ** 11;
const GROUPED_DAYS = 2 ** 32;
const DAYS = 2 ** 53;

interface Found {
  readonly p: number;
  readonly bits: number;
  /** The half of two words that was read: 1 or 2; 0 for whole words. */
  readonly half: number;
  readonly littleEndian: boolean;
  readonly repeats: number;
  readonly expected: number;
}

/** Returns the word at a place. */
type Read = (view: DataView, at: number, littleEndian: boolean) => number;

const readWord: Read = (view, at, littleEndian) => view.getUint32(at, littleEndian);

/** Joins the first halves of two words. */
const readHalves: Read = (view, at, littleEndian) =>
  view.getUint16(at, littleEndian) * 0x1_0000 + view.getUint16(at + 4, littleEndian);

/** By what is read of the words: all, or one half of two. */
const GROUPED: readonly { readonly bytes: number; readonly read: Read }[] = [
  { bytes: 4, read: readWord },
  { bytes: 8, read: readHalves },
  { bytes: 8, read: (view, at, littleEndian) => readHalves(view, at + 2, littleEndian) },
];

export function birthdaySpacings(bytes: Uint8Array): TestResult {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const found = [true, false].flatMap((littleEndian) => [
    ...GROUPED.map((_, half) => inGroups(view, half, littleEndian)),
    inOneYear(view, littleEndian),
  ]);
  const { p, ...where } = found.reduce((least, one) => (one.p < least.p ? one : least));
  return { pValues: [corrected(p, found.length)], statistics: { ...where } as Statistics };
}

type Where = Pick<Found, 'bits' | 'half' | 'littleEndian'>;

function judge(where: Where, repeats: number, expected: number): Found {
  const tail = Math.min(poissonUpper(repeats, expected), igamc(repeats + 1, expected));
  return { p: Math.min(1, 2 * tail), ...where, repeats, expected };
}

function inGroups(view: DataView, half: number, littleEndian: boolean): Found {
  const { bytes, read } = GROUPED[half];
  const groups = Math.floor(view.byteLength / (bytes * GROUP));
  const days = new Uint32Array(GROUP);
  let repeats = 0;
  for (let group = 0; group < groups; group++) {
    for (let i = 0; i < GROUP; i++) days[i] = read(view, bytes * (group * GROUP + i), littleEndian);
    repeats += repeatedSpacings(days);
  }
  days.fill(0);
  const where = { bits: 32, half, littleEndian };
  return judge(where, repeats, (groups * cube(GROUP)) / (4 * GROUPED_DAYS));
}

function inOneYear(view: DataView, littleEndian: boolean): Found {
  const days = new Float64Array(Math.floor(view.byteLength / 8));
  for (let i = 0; i < days.length; i++) {
    const first = view.getUint32(8 * i, littleEndian);
    const second = view.getUint32(8 * i + 4, littleEndian);
    const [high, low] = littleEndian ? [second, first] : [first, second];
    days[i] = high * 2 ** 21 + (low >>> 11);
  }
  const repeats = repeatedSpacings(days);
  days.fill(0);
  return judge({ bits: 53, half: 0, littleEndian }, repeats, cube(days.length) / (4 * DAYS));
}

/** Sorts the days, and returns how many spacings equal the one before them in order. */
export function repeatedSpacings(days: Uint32Array | Float64Array): number {
  days.sort();
  for (let i = days.length - 1; i > 0; i--) days[i] -= days[i - 1];
  const spacings = days.subarray(1).sort();
  let repeats = 0;
  for (let i = 1; i < spacings.length; i++) if (spacings[i] === spacings[i - 1]) repeats++;
  return repeats;
}

/** Engines round `**` differently. */
function cube(x: number): number {
  return x * x * x;
}

/** Returns P(X ≥ k) for a Poisson variable with mean λ. */
export function poissonUpper(k: number, lambda: number): number {
  if (k <= lambda) return k === 0 ? 1 : 1 - igamc(k, lambda);
  let logarithm = -lambda;
  for (let i = 1; i <= k; i++) logarithm += log(lambda / i);
  let [term, sum] = [1, 0];
  for (let i = k + 1; term > 1e-17 * sum; i++) {
    sum += term;
    term *= lambda / i;
  }
  return Math.min(1, exp(logarithm) * sum);
}

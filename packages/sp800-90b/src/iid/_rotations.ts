/** The order of the rotations of a text, by the suffixes of its least rotation. */
import { sortSuffixes } from '../estimators/_suffix-array.ts';

/** Rotations in order: rotation `starts[i]` occurs `copies` times, at multiples of the period. */
interface SortedRotations {
  /** Start positions, below the least period of the text. */
  readonly starts: Int32Array;
  readonly copies: number;
}

/**
 * Sorts the rotations of the first `length` symbols, in linear time for every text. Symbols MUST be
 * below `alphabetSize`.
 *
 * The least rotation of a text that is no power is a Lyndon word, and the suffixes of a Lyndon word
 * have the order of its rotations (Giancarlo, Restivo, Sciortino: From first principles to the
 * Burrows and Wheeler transform and beyond, 2007). A power is sorted by its root.
 */
export function sortRotations(
  text: Int32Array,
  length: number,
  alphabetSize: number,
): SortedRotations {
  const { start, period } = leastRotation(text, length);
  const word = new Int32Array(period);
  for (let i = 0, from = start; i < period; i++) {
    word[i] = text[from];
    from = from + 1 === length ? 0 : from + 1;
  }
  const starts = new Int32Array(period);
  sortSuffixes(word, alphabetSize, starts);
  for (let i = 0; i < period; i++) starts[i] = (starts[i] + start) % period;
  return { starts, copies: length / period };
}

/** Compares two candidates; the loser is excluded with every start that it has shown to be greater. */
function leastRotation(text: Int32Array, length: number): { start: number; period: number } {
  let a = 0;
  let b = 1;
  let equal = 0;
  while (a < length && b < length && equal < length) {
    const difference = text[wrapped(a + equal, length)] - text[wrapped(b + equal, length)];
    if (difference === 0) {
      equal++;
      continue;
    }
    if (difference > 0) a += equal + 1;
    else b += equal + 1;
    if (a === b) b++;
    equal = 0;
  }
  return { start: Math.min(a, b), period: equal === length ? Math.abs(a - b) : length };
}

function wrapped(position: number, length: number): number {
  return position >= length ? position - length : position;
}

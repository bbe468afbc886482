/**
 * Samples: numbers that do not fill their words, and words of any two values. Read as bits, they fail the tests whatever
 * generator they come from.
 */

import type { Remedy } from '../recognised-form.ts';

export interface SampleForm {
  /** What every word is, as a sentence without its end. */
  readonly says: string;
  readonly bytes: number;
  /** How their bits are given. */
  readonly remedy: Remedy;
}

type Order = 'little' | 'big';

/** Fewer words decide nothing. 13 random bytes are numbers below 16 with a probability of 2^-52. */
const MINIMUM_WORDS = 4;
/** Random words are floating-point numbers of this range with a probability of 2^-2.8 each. */
const MINIMUM_FLOATS = 16;

/** A part of so many words has each half of the range. A counter and a dead generator do not, and are judged. */
const RAREST_HALF = 8;
/** A part of so many words has the rarer of two values. */
const RAREST_VALUE = 32;

/** Returns what all words are, or `null`. The end of the head may cut a word off. */
export function sampleFormOf(head: Uint8Array): SampleForm | null {
  return twoValues(head) ?? floats(head) ?? smallNumbers(head);
}

/** Two values in turn are a period and no samples. */
function twoValues(head: Uint8Array): SampleForm | null {
  for (const bytes of [1, 2, 4, 8]) {
    const words = wordsOf(head, bytes, 'big');
    const values = [...new Set(words)];
    if (words.length < 2 * MINIMUM_WORDS || values.length !== 2) continue;
    const seconds = words.filter((word) => word === values[1]).length;
    const changes = words.filter((word, i) => i > 0 && word !== words[i - 1]).length;
    const rarest = Math.min(seconds, words.length - seconds, changes, words.length - 1 - changes);
    if (rarest < Math.max(1, words.length / RAREST_VALUE)) continue;
    const [low, high] = values.sort((a, b) => (a < b ? -1 : 1)).map((value) => hex(value, bytes));
    const names = values.map(String).join(',');
    return {
      says: `every ${noun(bytes, 'word')} is ${low} or ${high}`,
      bytes,
      remedy: { kind: 'format', format: `bit${8 * bytes}${suffix(bytes, 'big')}:${names}` },
    };
  }
  return null;
}

function hex(value: bigint, bytes: number): string {
  return `0x${value.toString(16).padStart(2 * bytes, '0')}`;
}

/** Numbers of both halves of a range that leaves half of each word zero. */
function smallNumbers(head: Uint8Array): SampleForm | null {
  for (const [bytes, bits] of [
    [8, 32],
    [4, 16],
    [2, 8],
    [1, 4],
  ] as const) {
    for (const order of ordersOf(bytes)) {
      const words = wordsOf(head, bytes, order);
      const width = [4, 8, 16, 32].find((w) => words.every((word) => word < 1n << BigInt(w)));
      if (words.length < MINIMUM_WORDS || width === undefined || width > bits) continue;
      const middle = 1n << BigInt(width - 1);
      const above = words.filter((word) => word >= middle).length;
      if (Math.min(above, words.length - above) < words.length / RAREST_HALF) continue;
      const says = `every ${noun(bytes, 'integer', order)} is below ${2 ** width}`;
      const format = `u${8 * bytes}${suffix(bytes, order)}:0-${width - 1}`;
      return { says, bytes, remedy: { kind: 'bits', format, low: 0, high: width - 1 } };
    }
  }
  return null;
}

/** Floating-point numbers between -16 and 16 that are not all near 0: a part of them is between 0.5 and 2 in magnitude. */
function floats(head: Uint8Array): SampleForm | null {
  for (const [bytes, mantissa, bias] of [
    [8, 52n, 1023n],
    [4, 23n, 127n],
  ] as const) {
    for (const order of ordersOf(bytes)) {
      const words = wordsOf(head, bytes, order);
      if (words.length < MINIMUM_FLOATS) continue;
      // Without the sign. 2 ** -32 ≤ |x| < 16, or 0.
      const exponents = words.map((word) => (word >> mantissa) & (2n * bias + 1n));
      const fits = exponents.every((e, i) => (e > bias - 33n && e < bias + 4n) || words[i] === 0n);
      const ones = exponents.filter((e) => e === bias - 1n || e === bias).length;
      if (!fits || ones < words.length / RAREST_HALF || new Set(words).size < 4) continue;
      const says = `every ${noun(bytes, 'floating-point number', order)} is between -16 and 16`;
      return { says, bytes, remedy: FLOATS };
    }
  }
  return null;
}

/** Which bits of a floating-point number are noise depends on its scale. */
const FLOATS: Remedy = {
  kind: 'advice',
  advice: 'write the whole numbers behind them, or the bits of each alone, 8 to a byte',
};

/** Returns the end of a format's name. */
function suffix(bytes: number, order: Order): string {
  return bytes === 1 ? '' : order === 'big' ? 'be' : 'le';
}

function noun(bytes: number, what: string, order?: Order): string {
  if (bytes === 1) return 'byte';
  return `${bytes * 8}-bit ${what}${order ? ` (${order}-endian)` : ''}`;
}

function ordersOf(bytes: number): readonly Order[] {
  return bytes === 1 ? ['big'] : ['little', 'big'];
}

function wordsOf(head: Uint8Array, bytes: number, order: Order): bigint[] {
  const words: bigint[] = [];
  for (let at = 0; at + bytes <= head.length; at += bytes) {
    let word = 0n;
    for (let i = 0; i < bytes; i++) {
      const place = order === 'big' ? i : bytes - 1 - i;
      word = (word << 8n) | BigInt(head[at + place] as number);
    }
    words.push(word);
  }
  return words;
}

/**
 * T5, the autocorrelation test (KS2011 §2.4.4.1). For a shift τ, Z_τ is the number of places among 5,000 where the
 * sequence differs from itself shifted by τ. The first 10,000 bits select the shift from 1 to 5,000 with the greatest
 * deviation from 2,500; the last 10,000 bits test this shift: 2,326 < Z_τ < 2,674.
 */
import type { ElementaryTest } from '../result.ts';
import { SEQUENCE_BITS } from './sequence.ts';

const SHIFTS = 5_000;
const COMPARED_BITS = 5_000;
const HALF_BITS = SEQUENCE_BITS / 2;

const WORD_BITS = 32;
const WHOLE_WORDS = Math.floor(COMPARED_BITS / WORD_BITS);
/** Selects the compared bits of the last word, which come first in it. */
const LAST_MASK = -1 << (WORD_BITS - (COMPARED_BITS % WORD_BITS));

export function autocorrelation(sequence: Uint8Array): Omit<ElementaryTest, 'on'> {
  const shift = strongestShift(sequence.subarray(0, HALF_BITS));
  const differences = differencesAt(packed(sequence.subarray(HALF_BITS)), shift);
  const passed = differences > 2_326 && differences < 2_674;
  const limit = '2,326 < differences < 2,674';
  return { name: 'T5', statistics: { shift, differences }, limit, passed };
}

/** Returns the shift whose Z_τ is farthest from its expectation; the smallest of several. */
function strongestShift(half: Uint8Array): number {
  const words = packed(half);
  let strongest = 1;
  let greatest = -1;
  for (let shift = 1; shift <= SHIFTS; shift++) {
    const deviation = Math.abs(differencesAt(words, shift) - COMPARED_BITS / 2);
    if (deviation > greatest) [strongest, greatest] = [shift, deviation];
  }
  return strongest;
}

/** Words of 32 bits from each of the first 32 places on: entry s holds the bits from place s. */
type PackedShifts = readonly Int32Array[];

function packed(half: Uint8Array): PackedShifts {
  return Array.from({ length: WORD_BITS }, (_, first) => {
    const words = new Int32Array(Math.ceil(half.length / WORD_BITS) + 1);
    for (let i = first; i < half.length; i++) {
      const place = i - first;
      words[place >>> 5] |= half[i] << (31 - (place & 31));
    }
    return words;
  });
}

/** Z_τ: compares word by word, because there are 257 · 5,000 shifts of 5,000 bits. */
function differencesAt(shifts: PackedShifts, shift: number): number {
  const [plain] = shifts;
  const shifted = shifts[shift & 31];
  const offset = shift >>> 5;
  let differences = 0;
  for (let i = 0; i < WHOLE_WORDS; i++) differences += ones(plain[i] ^ shifted[i + offset]);
  return differences + ones((plain[WHOLE_WORDS] ^ shifted[WHOLE_WORDS + offset]) & LAST_MASK);
}

function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

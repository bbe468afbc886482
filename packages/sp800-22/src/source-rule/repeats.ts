/**
 * Looks for data that occur twice in a source, as after a restart of a generator or the end of its period. It is not part of
 * SP 800-22, whose tests see one sequence at a time.
 *
 * It remembers 8 bytes after each place where 12 bits of two bytes are zero: about one place in 4,096, the same ones in both
 * copies. So it finds a copy of a few ten thousand bytes that begins at any byte. Two places of a sound source are remembered
 * and agree with a probability of 2^-88, or at most 2^-76 if they overlap; the sum over all pairs bounds the p-value.
 */
import type { PackedSequence } from '../bits.ts';
import { platform } from '../platform.ts';

const WORD_BYTES = 8;
/** The bytes of which 12 bits are zero, and the word. */
const MARK_BYTES = 2;
const PLACE_BYTES = MARK_BYTES + WORD_BYTES;

/** Words that are remembered: those of a gigabyte. Later ones are still compared with them. */
const MOST_WORDS = 2 ** 18;

/** Data that occur twice. Sequences count from 1, bits from 0 within a sequence. */
export interface Repeat {
  readonly sequence: number;
  readonly bit: number;
  readonly earlier_sequence: number;
  readonly earlier_bit: number;
}

interface Place {
  readonly sequence: number;
  readonly bit: number;
}

export class Repeats {
  /** By the digest of the word: the input may be secret, and nothing of it may stay in memory. */
  readonly #words = new Map<string, Place>();
  /** The first repeat, after which nothing else is compared. */
  #first: Repeat | undefined;

  /** Takes the next sequence. Places do not cross from one sequence into the next. */
  add({ bytes, n, offsetBits }: PackedSequence, sequence: number): void {
    if (this.#first) return;
    const start = Math.ceil(offsetBits / 8);
    const end = Math.floor((offsetBits + n) / 8);
    for (let at = bytes.indexOf(0, start); at !== -1; at = bytes.indexOf(0, at + 1)) {
      if (at + PLACE_BYTES > end) return;
      if (bytes[at + 1] >= 16) continue;
      const word = bytes.subarray(at + MARK_BYTES, at + PLACE_BYTES);
      const repeat = this.#meet(digestOf(word), sequence, 8 * at - offsetBits);
      if (!repeat) continue;
      this.#end(repeat);
      return;
    }
  }

  #meet(word: string, sequence: number, bit: number): Repeat | undefined {
    const earlier = this.#words.get(word);
    if (earlier) {
      return { sequence, bit, earlier_sequence: earlier.sequence, earlier_bit: earlier.bit };
    }
    if (this.#words.size < MOST_WORDS) this.#words.set(word, { sequence, bit });
    return undefined;
  }

  /** Keeps nothing of the input. */
  #end(repeat: Repeat): void {
    this.#first = repeat;
    this.#words.clear();
  }

  /** The first repeat among the first `sequences`. */
  within(sequences: number): Repeat | undefined {
    return this.#first && this.#first.sequence <= sequences ? this.#first : undefined;
  }
}

/** Returns 128 bits of SHA-256, so that two words never share them by chance. */
function digestOf(word: Uint8Array): string {
  return platform().sha256(word).slice(0, 32);
}

/** Returns a bound of the probability that so many bytes of a sound source have a repeat. */
export function repeatBound(bytes: number): number {
  return Math.min(1, ((bytes * bytes) / 2) * 2 ** -88 + PLACE_BYTES * bytes * 2 ** -76);
}

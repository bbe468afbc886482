/**
 * The compression statistic: SP 800-90B §5.1.11, the length of the samples as decimal text under
 * bzip2. NIST's program compresses with libbz2 at level 5; this code returns the same length for
 * every input, and writes no output.
 *
 * Most time goes into the order of the rotations of each block. Here it follows from the order of
 * the rotations that begin with a word, which are a half to a quarter as many: any other one begins
 * with the end of a word, and is ordered by this end and then by the word after it.
 */
import { BlockCoder } from './_bzip2-coding.ts';
import { blockEnd, type TextPosition, textBetween, WORDS } from './_decimal-text.ts';
import { sortRotations } from './_rotations.ts';

/** Stream header, and the end mark with the CRC. */
const STREAM_BITS = 32 + 48 + 32;

/** Longest word: two numbers, joined where the last word of a block meets the first, and a space. */
const WORD_BYTES = 8;

const SPACE = 0x20;

/** Computes lengths of compressed text. It keeps its memory for the next one. */
export class DecimalCompressor {
  readonly #coder = new BlockCoder();
  #last: Uint8Array = new Uint8Array(0);
  #words: Int32Array = new Int32Array(0);

  /** Returns the bytes of the compressed text of at least two samples. */
  length(samples: Uint8Array): number {
    const lastWord = samples.length - 1;
    const end = { word: lastWord, byte: WORDS[samples[lastWord]].length - 1 };
    const values = valuesOf(samples);
    let bits = STREAM_BITS;
    let from: TextPosition = { word: 0, byte: 0 };
    while (from.word < end.word || from.byte < end.byte) {
      const to = blockEnd(samples, from);
      const length = this.#transform(samples, values, from, to);
      bits += this.#coder.bits(this.#last, length);
      from = to;
    }
    return Math.ceil(bits / 8);
  }

  /** Zeroes everything derived from the samples. */
  wipe(): void {
    this.#last.fill(0);
    this.#words.fill(0);
    this.#coder.wipe();
  }

  /** Writes the last column of the sorted rotations of a block to `#last`. Returns its length. */
  #transform(
    samples: Uint8Array,
    values: readonly number[],
    from: TextPosition,
    to: TextPosition,
  ): number {
    if (from.word === to.word) return this.#transformDigits(textBetween(samples, from, to));
    // As a circle, the block has the beginning of a word at its end and the rest of one in front.
    const isWhole = from.byte === 0 && to.byte === 0;
    const joined = isWhole ? null : joinedWord(samples, from, to);
    const lexicon = new Lexicon(values, joined);
    const count = this.#readWords(samples, isWhole ? from.word : from.word + 1, to.word, lexicon);
    return this.#mergeEnds(count, lexicon);
  }

  /** Writes the numbers of the words to `#words`, the joined one first. Returns how many there are. */
  #readWords(samples: Uint8Array, from: number, to: number, lexicon: Lexicon): number {
    const before = lexicon.joined === null ? 0 : 1;
    const count = before + to - from;
    if (this.#words.length < count) this.#words = new Int32Array(count);
    const words = this.#words;
    if (lexicon.joined !== null) words[0] = lexicon.joined;
    const { numberOf } = lexicon;
    for (let i = from; i < to; i++) words[before + i - from] = numberOf[samples[i]];
    return count;
  }

  #mergeEnds(count: number, { ends, sizes, numbers, before }: Lexicon): number {
    const words = this.#words;
    const { starts, copies } = sortRotations(words, count, numbers);
    const slots = new Int32Array(numbers);
    for (let i = 0; i < count; i++) {
      const row = words[i] * WORD_BYTES;
      for (let at = row; at < row + sizes[words[i]]; at++) slots[ends[at]]++;
    }
    let length = 0;
    for (let end = 0; end < numbers; end++) {
      const size = slots[end];
      slots[end] = length;
      length += size;
    }
    if (this.#last.length < length) this.#last = new Uint8Array(length);
    const last = this.#last;
    for (let i = 0; i < starts.length; i++) {
      const word = words[starts[i] === 0 ? count - 1 : starts[i] - 1];
      const row = word * WORD_BYTES;
      const rowEnd = row + sizes[word];
      for (let copy = 0; copy < copies; copy++) {
        for (let at = row; at < rowEnd; at++) last[slots[ends[at]]++] = before[at];
      }
    }
    return length;
  }

  /** A block within one number: at most three digits. */
  #transformDigits(text: Uint8Array): number {
    const rotations = Array.from(text, (_, i) => [...text.subarray(i), ...text.subarray(0, i)]);
    const ordered = rotations.map((bytes) => String.fromCharCode(...bytes)).sort();
    if (this.#last.length < text.length) this.#last = new Uint8Array(text.length);
    ordered.forEach((rotation, i) => {
      this.#last[i] = rotation.charCodeAt(text.length - 1);
    });
    return text.length;
  }
}

function joinedWord(samples: Uint8Array, from: TextPosition, to: TextPosition): Uint8Array {
  const begin = textBetween(samples, { word: to.word, byte: 0 }, to);
  const rest = textBetween(samples, from, { word: from.word + 1, byte: 0 });
  return Uint8Array.from([...begin, ...rest]);
}

/**
 * The words of a block and their ends, numbered in lexical order. Equal ends of different words have
 * the same number, and a word is an end of itself.
 */
class Lexicon {
  /** Number of each value's word. */
  readonly numberOf: Int32Array = new Int32Array(256);
  readonly joined: number | null;
  readonly numbers: number;
  /** Bytes of each word. */
  readonly sizes: Uint8Array;
  /** Numbers of the ends of each word, the longest first; a row has `WORD_BYTES` places. */
  readonly ends: Int32Array;
  /** The byte in front of each end; a space in front of a word. */
  readonly before: Uint8Array;

  constructor(values: readonly number[], joined: Uint8Array | null) {
    const words = [...values.map((value) => WORDS[value]), ...(joined ? [joined] : [])];
    const keys = Int32Array.from(new Set(words.flatMap(endKeys))).sort();
    this.numbers = keys.length;
    this.sizes = new Uint8Array(keys.length);
    this.ends = new Int32Array(keys.length * WORD_BYTES);
    this.before = new Uint8Array(keys.length * WORD_BYTES);
    const numberOfKey = new Map(Array.from(keys, (key, number) => [key, number]));
    const numbers = words.map((word) => this.#add(word, numberOfKey));
    values.forEach((value, i) => {
      this.numberOf[value] = numbers[i];
    });
    this.joined = joined && numbers[values.length];
  }

  #add(word: Uint8Array, numberOfKey: ReadonlyMap<number, number>): number {
    const numbers = endKeys(word).map((key) => numberOfKey.get(key) ?? 0);
    const [number] = numbers;
    this.sizes[number] = word.length;
    this.ends.set(numbers, number * WORD_BYTES);
    this.before.set([SPACE, ...word.subarray(0, -1)], number * WORD_BYTES);
    return number;
  }
}

/** Returns a number for each end of a word, in lexical order: eight digits to the base 11. */
function endKeys(word: Uint8Array): number[] {
  return Array.from(word, (_, from) => {
    let key = 0;
    for (let i = 0; i < WORD_BYTES; i++) {
      const byte = word[from + i] ?? SPACE;
      key = 11 * key + (byte === SPACE ? 0 : byte - 0x2f);
    }
    return key;
  });
}

function valuesOf(samples: Uint8Array): number[] {
  const occurs = new Uint8Array(256);
  for (let i = 0; i < samples.length; i++) occurs[samples[i]] = 1;
  return [...occurs.keys()].filter((value) => occurs[value] === 1);
}

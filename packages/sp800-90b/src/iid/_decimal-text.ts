/**
 * The text that SP 800-90B §5.1.11 compresses: the values of the samples in decimal, with a space
 * between two. A word is a number with the space after it, so no word begins another one.
 */

/** bzip2 -5: a block is full with 500,000 − 19 bytes. */
const BLOCK_BYTES = 499_981;

/** Where a block begins or ends: before byte `byte` of word `word`. */
export interface TextPosition {
  readonly word: number;
  readonly byte: number;
}

/** The words of all values up to 255. */
export const WORDS: readonly Uint8Array[] = Array.from({ length: 256 }, (_, value) =>
  Uint8Array.from(`${value} `, (digit) => digit.charCodeAt(0)),
);

/**
 * Returns the end of the block that begins at `start`. bzip2 adds runs of equal bytes as a whole, so
 * a block may exceed its limit by two bytes. (In this text no run is longer than three, so bzip2
 * encodes none.) The text ends before the last space.
 */
export function blockEnd(values: Uint8Array, start: TextPosition): TextPosition {
  const last = { word: values.length - 1, byte: WORDS[values[values.length - 1]].length - 1 };
  let bytes = -start.byte;
  let word = start.word;
  while (word < last.word && bytes + WORDS[values[word]].length < BLOCK_BYTES) {
    bytes += WORDS[values[word]].length;
    word++;
  }
  let byte = word === start.word ? start.byte : 0;
  bytes += byte;
  while (word < last.word || byte < last.byte) {
    // A block is closed by the byte that follows its last run, which has been read by then. If that
    // is the last byte of the text, it joins the block.
    if (bytes >= BLOCK_BYTES) return isLastByte({ word, byte }, last) ? last : { word, byte };
    const text = WORDS[values[word]];
    const limit = word === last.word ? last.byte : text.length;
    const run = runLength(text, byte, limit);
    bytes += run;
    byte += run;
    if (byte === text.length) {
      word++;
      byte = 0;
    }
  }
  return last;
}

function isLastByte({ word, byte }: TextPosition, last: TextPosition): boolean {
  return word === last.word && byte === last.byte - 1;
}

function runLength(text: Uint8Array, from: number, limit: number): number {
  let to = from + 1;
  while (to < limit && text[to] === text[from]) to++;
  return to - from;
}

/** Returns the bytes from one position of the text to another. */
export function textBetween(values: Uint8Array, from: TextPosition, to: TextPosition): Uint8Array {
  const bytes: number[] = [];
  for (let word = from.word; word <= to.word; word++) {
    const text = word < values.length ? WORDS[values[word]] : new Uint8Array(0);
    const begin = word === from.word ? from.byte : 0;
    bytes.push(...text.subarray(begin, word === to.word ? to.byte : text.length));
  }
  return Uint8Array.from(bytes);
}

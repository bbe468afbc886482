/** Whole numbers of 8 to 64 bits, in either order of bytes: all of their bits, or some. */
import { type Decoder, type DecoderUse, formError, SampleWriter, WordCutter } from './decoder.ts';

/** How the other bits of a word must be, so that the bits taken are the number. */
type Unused = 'any' | 'zero' | 'sign';

interface IntegerForm {
  /** Bytes of a word. */
  readonly bytes: number;
  readonly isBig: boolean;
  /** The lowest and the highest bit that is read; 0 is the least significant. */
  readonly low: number;
  readonly high: number;
  readonly unused: Unused;
}

const NAME = /^([us])(\d{1,2})(?:in(8|16|24|32|64))?(le|be)?$/;
const BITS = /^(\d{1,2})-(\d{1,2})$/;

/** Reads such as `u16le`, `s12in16be`, `u12in16le:high`, `u16le:0-7`. Returns null for another form. */
export function parseIntegers(text: string): IntegerForm | null {
  const [name = '', option, ...more] = text.split(':');
  const [, sign, digits, container, order] = NAME.exec(name) ?? [];
  if (digits === undefined || more.length > 0) return null;
  const width = Number(digits);
  const word = Number(container ?? digits);
  const isWhole = container === undefined;
  if (![8, 16, 24, 32, 64].includes(word) || width < 1 || (isWhole ? width : width + 1) > word) {
    return null;
  }
  if ((word === 8) === (order !== undefined)) return null;
  const form = { bytes: word / 8, isBig: order === 'be' };
  if (!isWhole) return partOf(form, width, word, sign === 's', option);
  if (option === undefined) return { ...form, low: 0, high: word - 1, unused: 'any' };
  const bits = parseBits(option, word);
  return bits && { ...form, ...bits, unused: 'any' };
}

/** Reads the numbers of the lowest and the highest bit, such as `0-7`, in either order. */
export function parseBits(text: string, word: number): { low: number; high: number } | null {
  const [, one, other] = BITS.exec(text) ?? [];
  if (one === undefined) return null;
  const [low, high] = [Number(one), Number(other)].sort((a, b) => a - b) as [number, number];
  return high < word ? { low, high } : null;
}

function partOf(
  form: Pick<IntegerForm, 'bytes' | 'isBig'>,
  width: number,
  word: number,
  isSigned: boolean,
  option: string | undefined,
): IntegerForm | null {
  if (option === 'high') return { ...form, low: word - width, high: word - 1, unused: 'zero' };
  if (option !== undefined && option !== 'low') return null;
  return { ...form, low: 0, high: width - 1, unused: isSigned ? 'sign' : 'zero' };
}

/** The bits that are taken of a byte of the word. */
interface BytePart {
  readonly place: number;
  readonly shift: number;
  readonly mask: number;
  readonly count: number;
}

function partsOf({ bytes, low, high }: IntegerForm): BytePart[] {
  return Array.from({ length: bytes }, (_, place) => {
    // The bits of this byte, of which 0 is the lowest of the word.
    const lowest = 8 * (bytes - 1 - place);
    const from = Math.max(low, lowest);
    const count = Math.max(0, Math.min(high, lowest + 7) - from + 1);
    return { place, shift: from - lowest, mask: 2 ** count - 1, count };
  }).filter(({ count }) => count > 0);
}

export class IntegerDecoder implements Decoder {
  readonly #form: IntegerForm;
  readonly #words: WordCutter;
  readonly #writer: SampleWriter;
  /** The word, most significant byte first. */
  readonly #word: Uint8Array;
  readonly #isWhole: boolean;
  readonly #parts: readonly BytePart[];
  #read = 0;

  constructor(form: IntegerForm, use: DecoderUse) {
    const isByte = form.bytes === 1 || !use.isSpread;
    this.#isWhole = form.low === 0 && form.high === 8 * form.bytes - 1 && isByte;
    this.#parts = partsOf(form);
    this.#form = form;
    this.#words = new WordCutter(form.bytes);
    this.#word = new Uint8Array(form.bytes);
    this.#writer = new SampleWriter(form.high - form.low + 1, use);
  }

  get unusedBits(): number {
    return this.#writer.unusedBits;
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#isWhole) return this.#turned(chunk);
    this.#words.each(chunk, (bytes, at) => this.#take(bytes, at));
    return this.#writer.take();
  }

  /** Words of which all bits are read: only the order of their bytes may change. */
  #turned(chunk: Uint8Array): Uint8Array {
    const { bytes: size, isBig } = this.#form;
    const turned = new Uint8Array(chunk.length + size);
    let length = 0;
    this.#words.each(chunk, (bytes, at) => {
      for (let i = 0; i < size; i++) {
        turned[length++] = bytes[isBig ? at + i : at + size - 1 - i] as number;
      }
    });
    return turned.subarray(0, length);
  }

  end(): Uint8Array {
    this.#words.assertWhole();
    this.#word.fill(0);
    return this.#writer.end();
  }

  #take(chunk: Uint8Array, at: number): void {
    const { bytes, isBig, unused } = this.#form;
    const word = this.#word;
    for (let i = 0; i < bytes; i++) word[isBig ? i : bytes - 1 - i] = chunk[at + i] as number;
    if (unused !== 'any') this.#assertUnused(unused);
    this.#writer.begin();
    for (const { place, shift, mask, count } of this.#parts) {
      this.#writer.putBits(((word[place] as number) >>> shift) & mask, count);
    }
    this.#read++;
  }

  /** Throws if a bit that is not read is no part of the number's form. */
  #assertUnused(unused: Unused): void {
    const { bytes, low, high, isBig } = this.#form;
    const bitAt = (i: number): number =>
      ((this.#word[bytes - 1 - (i >>> 3)] as number) >>> (i & 7)) & 1;
    const expected = unused === 'sign' ? bitAt(high) : 0;
    for (let i = 0; i < 8 * bytes; i++) {
      if ((i >= low && i <= high) || bitAt(i) === expected) continue;
      const name = `u${8 * bytes}${bytes === 1 ? '' : isBig ? 'be' : 'le'}:${low}-${high}`;
      throw formError(
        `word ${this.#read + 1}, at byte ${this.#read * bytes}, is 0x${hexOf(this.#word)}: expected a number of ${high - low + 1} bits; ${name} reads its bits ${low} to ${high} whatever the others are`,
      );
    }
  }
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

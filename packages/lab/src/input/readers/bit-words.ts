/** One bit in each byte or word: integers or floating-point numbers of two values. */
import { type Decoder, type DecoderUse, formError, SampleWriter, WordCutter } from './decoder.ts';

interface BitWords {
  /** Bytes of a word. */
  readonly bytes: number;
  /** The word for 0 and the word for 1, as they stand in the file. */
  readonly zero: Uint8Array;
  readonly one: Uint8Array;
}

const NAME = /^bit(f?)(8|16|32|64)(le|be)?$/;
const VALUES = /^(-?\d{1,20}(?:\.\d{1,20})?),(-?\d{1,20}(?:\.\d{1,20})?)$/;

/** Reads such as `bit8`, `bit8:0,255`, `bit32le`, `bitf64be:-1,1`. Returns null for another form. */
export function parseBitWords(text: string): BitWords | null {
  const [name = '', values = '0,1', ...more] = text.split(':');
  const [, float, digits, order] = NAME.exec(name) ?? [];
  const [, zero, one] = VALUES.exec(values) ?? [];
  if (digits === undefined || zero === undefined || one === undefined || more.length > 0) {
    return null;
  }
  const bits = Number(digits);
  if ((bits === 8) === (order !== undefined) || (float && bits < 32)) return null;
  const words = [zero, one].map((value) => wordOf(value, bits, Boolean(float), order === 'le'));
  const [low, high] = words;
  if (!low || !high || isEqual(low, 0, high)) return null;
  return { bytes: bits / 8, zero: low, one: high };
}

/** Returns null for a value that the word cannot hold. */
function wordOf(
  text: string,
  bits: number,
  isFloat: boolean,
  isLittle: boolean,
): Uint8Array | null {
  const view = new DataView(new ArrayBuffer(bits / 8));
  if (isFloat) {
    if (bits === 32) view.setFloat32(0, Number(text), isLittle);
    else view.setFloat64(0, Number(text), isLittle);
  } else {
    if (text.includes('.')) return null;
    const value = BigInt(text);
    const most = 1n << BigInt(bits);
    if (value >= most || value < -most / 2n) return null;
    for (let i = 0; i < bits / 8; i++) {
      const place = isLittle ? i : bits / 8 - 1 - i;
      view.setUint8(place, Number((value >> BigInt(8 * i)) & 0xffn));
    }
  }
  return new Uint8Array(view.buffer);
}

function isEqual(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
  return true;
}

export class BitWordDecoder implements Decoder {
  readonly #form: BitWords;
  readonly #words: WordCutter;
  readonly #writer: SampleWriter;
  #read = 0;

  constructor(form: BitWords, use: DecoderUse) {
    this.#form = form;
    this.#words = new WordCutter(form.bytes);
    this.#writer = new SampleWriter(1, use);
  }

  get unusedBits(): number {
    return this.#writer.unusedBits;
  }

  push(chunk: Uint8Array): Uint8Array {
    this.#words.each(chunk, (bytes, at) => this.#take(bytes, at));
    return this.#writer.take();
  }

  end(): Uint8Array {
    this.#words.assertWhole();
    return this.#writer.end();
  }

  #take(bytes: Uint8Array, at: number): void {
    const { bytes: size, zero, one } = this.#form;
    const isOne = isEqual(bytes, at, one);
    if (!isOne && !isEqual(bytes, at, zero)) {
      const found = hexOf(bytes.subarray(at, at + size));
      throw formError(
        `word ${this.#read + 1}, at byte ${this.#read * size}, is ${found}: expected ${hexOf(zero)} for 0 or ${hexOf(one)} for 1; name the two values, such as bit8:0,255`,
      );
    }
    this.#read++;
    this.#writer.put(isOne ? 1 : 0);
  }
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
}

/** Decodes whole numbers that follow one another, on one line or many: each is a sample. */
import { DecodeError, type Decoder } from './decoder.ts';
import { type SampleOptions, SamplePacker, widthOf } from './samples.ts';

/** Brackets are those of a list, as Python or JSON writes it. */
const SEPARATORS = /[\s,;()[\]{}]+/;

/** Longer than any number. */
const MAX_NUMBER_LENGTH = 1000;

export class NumbersDecoder implements Decoder {
  readonly #packer: SamplePacker;
  readonly #text = new TextDecoder();
  /** The start of a number that the next chunk may continue. */
  #rest = '';
  #read = 0;

  constructor(options: SampleOptions) {
    this.#packer = new SamplePacker(options);
  }

  push(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
    const fields = (this.#rest + this.#text.decode(chunk, { stream: true })).split(SEPARATORS);
    this.#rest = fields.pop() ?? '';
    if (this.#rest.length > MAX_NUMBER_LENGTH) {
      throw new DecodeError(`number ${this.#read + fields.length + 1} does not end`);
    }
    return this.#pack(fields);
  }

  /** Drops the bits of an incomplete byte. */
  end(): Uint8Array<ArrayBuffer> {
    return this.#pack([this.#rest]);
  }

  #pack(fields: readonly string[]): Uint8Array<ArrayBuffer> {
    const numbers = fields.filter((field) => field !== '');
    return this.#packer.pack(numbers.map((field) => this.#parse(field)));
  }

  #parse(field: string): number {
    this.#read++;
    return this.#packer.parse(field, () => `number ${this.#read}`);
  }
}

/** Returns the bits of the largest number at the start of a text; null if it has other words. The last may be cut off. */
export function proposeNumbers(text: string): number | null {
  const fields = text.split(SEPARATORS).filter((field) => field !== '');
  return widthOf(fields.length > 1 ? fields.slice(0, -1) : fields);
}

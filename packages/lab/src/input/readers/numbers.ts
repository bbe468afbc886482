/** Decodes whole numbers that follow one another, on one line or many: each is a sample. */
import { foreignBase } from '../forms/digits.ts';
import { formError } from './decoder.ts';
import { NumeralDecoder, widthOf } from './numerals.ts';

/** Brackets are those of a list, as Python or JSON writes it. */
const SEPARATORS = /[\s,;()[\]{}]+/;

/** Longer than any number. */
const MAX_NUMBER_LENGTH = 1000;

export class NumbersDecoder extends NumeralDecoder {
  /** The start of a number that the next chunk may continue. */
  #rest = '';
  #read = 0;

  protected measure(text: string) {
    const fields = text.split(SEPARATORS).filter((field) => field !== '');
    const [first = ''] = fields;
    return { width: proposeNumbers(text), first, foreign: foreignBase(fields.slice(0, -1)) };
  }

  protected nameWith(numerals: string): string {
    return `numbers:${numerals}`;
  }

  protected takeText(text: string): void {
    const fields = (this.#rest + text).split(SEPARATORS);
    this.#rest = fields.pop() ?? '';
    if (this.#rest.length > MAX_NUMBER_LENGTH) {
      throw formError(`number ${this.#read + fields.length + 1} does not end`);
    }
    for (const field of fields) this.#take(field);
  }

  protected finish(): void {
    this.#take(this.#rest);
    this.#rest = '';
  }

  #take(field: string): void {
    if (field === '') return;
    this.#read++;
    this.put(field, () => `number ${this.#read}`);
  }
}

/** Returns the bits of the largest number at the start of a text; null if it has other words. The last may be cut off. */
export function proposeNumbers(text: string): number | null {
  const fields = text.split(SEPARATORS).filter((field) => field !== '');
  return widthOf(fields.length > 1 ? fields.slice(0, -1) : fields);
}

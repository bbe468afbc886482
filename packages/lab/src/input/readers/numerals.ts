/** Samples as whole numbers in a text. */
import type { ForeignBase } from '../forms/digits.ts';
import { type Decoder, type DecoderUse, formError, SampleWriter } from './decoder.ts';

/** The widest sample. */
export const MAX_SAMPLE_BITS = 32;

/** Characters at the start of a text by which the largest number is measured. */
const MEASURED_CHARACTERS = 4096;

/** How the numbers of a text are written: in decimal, of so many bits, or in hexadecimal of as many digits each. */
export type Numerals = number | 'hex';

/** Reads the last option of `csv` and `numbers`; undefined: measured at the start of the text. Null: neither. */
export function parseNumerals(text: string | undefined): Numerals | undefined | null {
  if (text === undefined || text === 'hex') return text;
  const bits = /^[1-9]\d?$/.test(text) ? Number(text) : Number.NaN;
  return bits <= MAX_SAMPLE_BITS ? bits : null;
}

const LEFT_OUT =
  '"*", which stands for lines that are left out: list all, with od -v or hexdump -v';

const NOT_READ =
  'signed, fractional and missing numbers are not read; write the whole numbers behind them, or the bits of each as 0 and 1';

/** What to do with numbers of another base than ten. */
export const OF_BASE: Readonly<Record<ForeignBase, string>> = {
  binary:
    'write their digits alone, for the format ascii; with a number of bits, such as csv:2:8, they are read as decimal',
  octal:
    'write the bytes, or decimal numbers; with a number of bits, such as csv:2:8, they are read as decimal',
};

/** Packs samples without a gap, the most significant bit first. */
class SamplePacker {
  readonly #bits: number;
  readonly #isHex: boolean;
  readonly #writer: SampleWriter;

  constructor(bits: number, isHex: boolean, use: DecoderUse) {
    this.#bits = bits;
    this.#isHex = isHex;
    this.#writer = new SampleWriter(bits, use);
  }

  /** Takes the sample that a field holds. `place` names the field in the error. */
  put(field: string, place: () => string): void {
    this.#writer.put(this.#isHex ? this.#parseHex(field, place) : this.#parse(field, place));
  }

  take(): Uint8Array {
    return this.#writer.take();
  }

  end(): { readonly bytes: Uint8Array; readonly unusedBits: number } {
    const bytes = this.#writer.end();
    return { bytes, unusedBits: this.#writer.unusedBits };
  }

  #parse(field: string, place: () => string): number {
    if (field === '*') {
      throw formError(`${place()} has ${LEFT_OUT}`);
    }
    if (!isWhole(field)) {
      throw formError(
        `${place()} has "${field.slice(0, 40)}", expected a whole number from 0 up: ${NOT_READ}`,
      );
    }
    const sample = Number(field);
    if (sample < 2 ** this.#bits) return sample;
    const remedy =
      sample < 2 ** MAX_SAMPLE_BITS
        ? `needs more than ${this.#bits} bits: give a larger number of bits per value`
        : `needs more than ${MAX_SAMPLE_BITS} bits, the most that a value may have`;
    throw formError(`${place()} has ${field.slice(0, 40)}, which ${remedy}`);
  }

  #parseHex(field: string, place: () => string): number {
    const digits = hexDigits(field);
    if (digits !== null && 4 * digits.length === this.#bits) return Number.parseInt(digits, 16);
    throw formError(
      `${place()} has "${field.slice(0, 40)}", expected ${this.#bits / 4} hexadecimal digits as in the first value`,
    );
  }
}

/** A text of samples. */
export abstract class NumeralDecoder implements Decoder {
  readonly #numerals: Numerals | undefined;
  readonly #use: DecoderUse;
  readonly #text = new TextDecoder();
  #packer: SamplePacker | null = null;
  unusedBits = 0;
  format: string | undefined;

  constructor(numerals: Numerals | undefined, use: DecoderUse) {
    this.#numerals = numerals;
    this.#use = use;
  }

  protected get isHex(): boolean {
    return this.#numerals === 'hex';
  }

  /** Measures the start of the text: returns the bits of the largest number, and the first field of a sample. */
  protected abstract measure(text: string): {
    readonly width: number | null;
    readonly first: string;
    readonly foreign: ForeignBase | null;
  };

  /** Returns the name of the format with these numerals. */
  protected abstract nameWith(numerals: string): string;

  /** Takes a part of the text, with `put`. */
  protected abstract takeText(text: string): void;

  /** Takes what was left for the end. */
  protected abstract finish(): void;

  push(chunk: Uint8Array): Uint8Array {
    if (!this.#packer && isUtf16(chunk)) {
      throw formError('the text is in UTF-16: save it as UTF-8 or ASCII first');
    }
    const text = this.#text.decode(chunk, { stream: true });
    this.#packer ??= this.#begin(text.slice(0, MEASURED_CHARACTERS));
    this.takeText(text);
    return this.#packer.take();
  }

  end(): Uint8Array {
    this.finish();
    if (!this.#packer) return new Uint8Array(0);
    const { bytes, unusedBits } = this.#packer.end();
    this.unusedBits = unusedBits;
    return bytes;
  }

  protected put(field: string, place: () => string): void {
    this.#packer?.put(field, place);
  }

  #begin(text: string): SamplePacker {
    const { width, first, foreign } = this.measure(text);
    const { isHex } = this;
    if (foreign && !isHex && this.#numerals === undefined) {
      throw formError(`the numbers look like ${foreign} ones: ${OF_BASE[foreign]}`);
    }
    const bits = isHex ? 4 * (hexDigits(first)?.length ?? 0) : (this.#numerals ?? width);
    if (typeof bits !== 'number' || bits < 1) {
      if (/^\*\r?$/m.test(text)) throw formError(`the text has ${LEFT_OUT}`);
      throw formError(
        isHex
          ? 'the text does not begin with hexadecimal numbers'
          : `the text does not begin with whole numbers from 0 up: ${NOT_READ}`,
      );
    }
    if (bits > MAX_SAMPLE_BITS) {
      throw formError(
        `the numbers need ${bits} bits, more than the ${MAX_SAMPLE_BITS} that a value may have`,
      );
    }
    this.format = this.nameWith(isHex ? 'hex' : String(bits));
    return new SamplePacker(bits, isHex, this.#use);
  }
}

/** True for a byte order mark of UTF-16, or a character of it. */
function isUtf16([first, second]: Uint8Array): boolean {
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMarked || (first === 0) !== (second === 0);
}

/** Returns the digits of a hexadecimal number of at most 32 bits; null if it is none. */
export function hexDigits(field: string): string | null {
  return /^(?:0x)?([0-9a-f]{1,8})$/i.exec(field)?.[1] ?? null;
}

function isWhole(field: string): boolean {
  return /^\d+$/.test(field);
}

/**
 * Returns the bits of the largest of these numbers, which may be more than a sample may have. A wider sample would get bits
 * that are always 0. Returns null if one is no whole number, or if there are none.
 */
export function widthOf(fields: readonly string[]): number | null {
  if (fields.length === 0 || !fields.every(isWhole)) return null;
  return Math.max(...fields.map((field) => BigInt(field).toString(2).length));
}

/**
 * Decodes a column of whole numbers: one sample in each line. The bits of each sample follow each other without a gap,
 * most significant first.
 */
import { DecodeError, type Decoder } from './decoder.ts';

export interface CsvOptions {
  /** Counts from 1. */
  readonly column: number;
  /** Bits of each sample, 1 to 32. */
  readonly bits: number;
}

/** Separators of fields: the first of these that a line has. */
const SEPARATORS = [',', ';', '\t', ' '] as const;

export class CsvDecoder implements Decoder {
  readonly #options: CsvOptions;
  readonly #limit: number;
  readonly #text = new TextDecoder();
  /** The start of a line that the next chunk continues. */
  #rest = '';
  #line = 0;
  /** Bits that are not yet a byte. */
  #held = 0;
  #heldBits = 0;

  constructor(options: CsvOptions) {
    this.#options = options;
    this.#limit = 2 ** options.bits;
  }

  push(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
    const lines = (this.#rest + this.#text.decode(chunk, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    return this.#pack(lines);
  }

  /** Drops the bits of an incomplete byte. */
  end(): Uint8Array<ArrayBuffer> {
    return this.#pack([this.#rest]);
  }

  #pack(lines: readonly string[]): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(Math.ceil((lines.length * this.#options.bits) / 8) + 1);
    let length = 0;
    for (const line of lines) {
      const sample = this.#sampleOf(line);
      if (sample === null) continue;
      for (let bit = this.#options.bits - 1; bit >= 0; bit--) {
        this.#held = (this.#held << 1) | ((sample >>> bit) & 1);
        if (++this.#heldBits < 8) continue;
        bytes[length++] = this.#held;
        this.#held = 0;
        this.#heldBits = 0;
      }
    }
    return bytes.subarray(0, length);
  }

  /** Returns the sample; null for an empty line and for titles in the first one. */
  #sampleOf(line: string): number | null {
    this.#line++;
    if (line.trim() === '') return null;
    const field = fieldsOf(line)[this.#options.column - 1]?.trim();
    if (field !== undefined && /^\d+$/.test(field)) {
      const sample = Number(field);
      if (sample < this.#limit) return sample;
      throw new DecodeError(
        `line ${this.#line} has ${field}, which needs more than ${this.#options.bits} bits`,
      );
    }
    if (this.#line === 1) return null;
    const found = field === undefined ? `no column ${this.#options.column}` : `"${field}"`;
    throw new DecodeError(`line ${this.#line} has ${found}, expected a whole number from 0 up`);
  }
}

export function fieldsOf(line: string): string[] {
  const text = line.trim();
  const separator = SEPARATORS.find((candidate) => text.includes(candidate));
  return separator === undefined ? [text] : text.split(separator);
}

/** Widths that are proposed: of bits, bytes and words. */
const WIDTHS = [1, 8, 16, 32] as const;

/** Returns the number of columns of a text, and the least usual width that holds each number of its first column. */
export function proposeCsv(text: string): { readonly columns: number; readonly bits: number } {
  const lines = text.split(/\r\n?|\n/).filter((line) => line.trim() !== '');
  const body = (lines.length > 2 ? lines.slice(1, -1) : lines).map(fieldsOf);
  const largest = Math.max(0, ...body.map(([field]) => Number(field) || 0));
  return {
    columns: Math.max(1, ...body.map((fields) => fields.length)),
    bits: WIDTHS.find((width) => largest < 2 ** width) ?? 32,
  };
}

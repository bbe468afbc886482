/** Decodes a column of whole numbers: one sample in each line. */
import { DecodeError, type Decoder } from './decoder.ts';
import { MAX_SAMPLE_BITS, type SampleOptions, SamplePacker, widthOf } from './samples.ts';

interface CsvOptions extends SampleOptions {
  /** Counts from 1. */
  readonly column: number;
}

/** Separators of fields: the first of these that a line has, else spaces. A comma may be a decimal sign beside the others. */
const SEPARATORS = [';', '\t', ','] as const;

const LINE_ENDS = /\r\n?|\n/;

/** Longer than any line of samples. */
const MAX_LINE_LENGTH = 2 ** 20;

export class CsvDecoder implements Decoder {
  readonly #column: number;
  readonly #packer: SamplePacker;
  readonly #text = new TextDecoder();
  /** The start of a line that the next chunk continues. */
  #rest = '';
  #line = 0;

  constructor({ column, ...options }: CsvOptions) {
    this.#column = column;
    this.#packer = new SamplePacker(options);
  }

  push(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
    const text = this.#rest + this.#text.decode(chunk, { stream: true });
    // A carriage return at the end may be half of a line end.
    const isHalf = text.endsWith('\r');
    const lines = (isHalf ? text.slice(0, -1) : text).split(LINE_ENDS);
    this.#rest = `${lines.pop() ?? ''}${isHalf ? '\r' : ''}`;
    if (this.#rest.length > MAX_LINE_LENGTH) {
      throw new DecodeError(`line ${this.#line + lines.length + 1} does not end`);
    }
    return this.#pack(lines);
  }

  /** Drops the bits of an incomplete byte. */
  end(): Uint8Array<ArrayBuffer> {
    return this.#pack([this.#rest]);
  }

  #pack(lines: readonly string[]): Uint8Array<ArrayBuffer> {
    const samples = lines.map((line) => this.#sampleOf(line));
    return this.#packer.pack(samples.filter((sample) => sample !== null));
  }

  /** Returns the sample; null for an empty line and for titles in the first one. */
  #sampleOf(line: string): number | null {
    this.#line++;
    if (line.trim() === '') return null;
    const field = fieldsOf(line)[this.#column - 1];
    if (this.#line === 1 && isTitle(field)) return null;
    const place = (): string => `line ${this.#line}`;
    if (field === undefined || field === '') {
      const found = field === '' ? 'nothing in column' : 'no column';
      throw new DecodeError(
        `${place()} has ${found} ${this.#column}: choose another column, or fill in or remove the line`,
      );
    }
    return this.#packer.parse(field, place);
  }
}

/** A number that is no sample, such as -1, is no title: to leave it out would hide it. */
function isTitle(field: string | undefined): boolean {
  return field === undefined || field === '' || Number.isNaN(Number(field));
}

/** Returns the fields of a line, without spaces around them and without quotes. */
function fieldsOf(line: string): string[] {
  const unquoted = line.includes('"') ? line.replace(/"[^"]*"/g, '') : line;
  const separator = SEPARATORS.find((candidate) => unquoted.includes(candidate));
  const fields = line.includes('"')
    ? splitQuoted(line, separator ?? ' ')
    : line.split(separator ?? ' ');
  const bare = fields.map((field) => field.trim());
  return separator === undefined ? bare.filter((field) => field !== '') : bare;
}

/** Leaves out the quotes, because no number has one. */
function splitQuoted(line: string, separator: string): string[] {
  const fields = [''];
  let isQuoted = false;
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) fields.push('');
    else fields[fields.length - 1] += character;
  }
  return fields;
}

/** The columns at the start of a text. */
interface ProposedColumns {
  /** Bits of the largest number of each column; null if not all are whole numbers. */
  readonly widths: readonly (number | null)[];
  /** The last column whose numbers can be samples, from 1; else the last of whole numbers, else the last. */
  readonly column: number;
}

/** Measures the columns. The first line may have titles, and the last one may be cut off. */
export function proposeCsv(text: string): ProposedColumns {
  const lines = text.split(LINE_ENDS).filter((line) => line.trim() !== '');
  const body = (lines.length > 2 ? lines.slice(1, -1) : lines).map(fieldsOf);
  const columns = Math.max(1, ...body.map((fields) => fields.length));
  const widths = Array.from({ length: columns }, (_, at) =>
    widthOf(body.map((fields) => fields[at] ?? '')),
  );
  const narrow = widths.findLastIndex((width) => width !== null && width <= MAX_SAMPLE_BITS);
  const last = narrow < 0 ? widths.findLastIndex((width) => width !== null) : narrow;
  return { widths, column: last < 0 ? columns : last + 1 };
}

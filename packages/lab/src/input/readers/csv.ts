/** Decodes a column of whole numbers: one sample in each line. */
import { type DecoderUse, formError } from './decoder.ts';
import { hexDigits, MAX_SAMPLE_BITS, NumeralDecoder, type Numerals, widthOf } from './numerals.ts';

interface CsvOptions {
  /** Counts from 1; undefined: the last column of whole numbers. */
  readonly column: number | undefined;
  readonly numerals: Numerals | undefined;
}

/** Separators of fields: the first of these that a line has, else spaces. A comma may be a decimal sign beside the others. */
const SEPARATORS = [';', '\t', ','] as const;

const LINE_ENDS = /\r\n?|\n/;

/** Longer than any line of samples. */
const MAX_LINE_LENGTH = 2 ** 20;

export class CsvDecoder extends NumeralDecoder {
  #column: number | undefined;
  /** The start of a line that the next chunk continues. */
  #rest = '';
  #line = 0;

  constructor({ column, numerals }: CsvOptions, use: DecoderUse) {
    super(numerals, use);
    this.#column = column;
  }

  protected measure(text: string): { width: number | null; first: string } {
    const { widths, column } = proposeCsv(text);
    this.#column ??= column;
    const lines = text.split(LINE_ENDS).filter((line) => line.trim() !== '');
    // The first line may have titles.
    const first = fieldsOf(lines[1] ?? lines[0] ?? '')[this.#column - 1] ?? '';
    return { width: widths[this.#column - 1] ?? null, first };
  }

  protected nameWith(numerals: string): string {
    return `csv:${this.#column}:${numerals}`;
  }

  protected takeText(chunk: string): void {
    const text = this.#rest + chunk;
    // A carriage return at the end may be half of a line end.
    const isHalf = text.endsWith('\r');
    const lines = (isHalf ? text.slice(0, -1) : text).split(LINE_ENDS);
    this.#rest = `${lines.pop() ?? ''}${isHalf ? '\r' : ''}`;
    if (this.#rest.length > MAX_LINE_LENGTH) {
      throw formError(`line ${this.#line + lines.length + 1} does not end`);
    }
    for (const line of lines) this.#take(line);
  }

  protected finish(): void {
    this.#take(this.#rest);
    this.#rest = '';
  }

  /** Leaves out an empty line, and titles in the first one. */
  #take(line: string): void {
    this.#line++;
    if (line.trim() === '') return;
    const column = this.#column ?? 1;
    const field = fieldsOf(line)[column - 1];
    if (this.#line === 1 && this.#isTitle(field)) return;
    const place = (): string => `line ${this.#line}`;
    if (field === undefined || field === '') {
      const found = field === '' ? 'nothing in column' : 'no column';
      throw formError(
        `${place()} has ${found} ${column}: choose another column, or fill in or remove the line`,
      );
    }
    this.put(field, place);
  }

  /** Hexadecimal digits are no title, of whatever length. */
  #isTitle(field: string | undefined): boolean {
    if (this.isHex && field !== undefined && field !== '') return hexDigits(field) === null;
    return isTitle(field);
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
  const widths = columnsOf(text).map(widthOf);
  const narrow = lastIndexOf(widths, (width) => width !== null && width <= MAX_SAMPLE_BITS);
  const last = narrow < 0 ? lastIndexOf(widths, (width) => width !== null) : narrow;
  return { widths, column: last < 0 ? widths.length : last + 1 };
}

/** Returns the last column of hexadecimal numbers with as many digits each, from 1; 0 if there is none. */
export function proposeHexColumn(text: string): number {
  return 1 + lastIndexOf(columnsOf(text), (fields) => widthOf(fields) === null && isHex(fields));
}

/** Returns the fields of each column at the start of a text. */
function columnsOf(text: string): string[][] {
  const lines = text.split(LINE_ENDS).filter((line) => line.trim() !== '');
  const body = (lines.length > 2 ? lines.slice(1, -1) : lines).map(fieldsOf);
  const columns = Math.max(1, ...body.map((fields) => fields.length));
  return Array.from({ length: columns }, (_, at) => body.map((fields) => fields[at] ?? ''));
}

/** True for several numbers with as many digits each, as `%02x` writes them. */
function isHex(fields: readonly string[]): boolean {
  const digits = fields.map(hexDigits);
  const [first] = digits;
  return digits.length > 1 && digits.every((one) => one !== null && one.length === first?.length);
}

function lastIndexOf<Item>(items: readonly Item[], fits: (item: Item) => boolean): number {
  return items.map(fits).lastIndexOf(true);
}

/** Decodes a column of whole numbers: one sample in each line. */
import {
  CellCount,
  type Columns,
  columnsOf,
  describeColumns,
  fieldsOf,
  isForeign,
  LINE_ENDS,
  nameColumn,
} from './columns.ts';
import { type DecoderUse, formError } from './decoder.ts';
import { hexDigits, NumeralDecoder, type Numerals } from './numerals.ts';

interface CsvOptions {
  /** Counts from 1; undefined: the only column that can be the samples. */
  readonly column: number | undefined;
  readonly numerals: Numerals | undefined;
}

/** Longer than any line of samples. */
const MAX_LINE_LENGTH = 2 ** 20;

export class CsvDecoder extends NumeralDecoder {
  #column: number | undefined;
  /** The start of a line that the next chunk continues. */
  #rest = '';
  #line = 0;
  readonly #cells = new CellCount();

  constructor({ column, numerals }: CsvOptions, use: DecoderUse) {
    super(numerals, use);
    this.#column = column;
  }

  protected measure(text: string) {
    const found = columnsOf(text);
    const column = this.#column ?? columnIn(found);
    this.#column = column;
    const count = found.columns.length;
    if (column > count) {
      throw formError(
        `the text has ${count} ${count === 1 ? 'column' : 'columns'}, and no column ${column}`,
      );
    }
    const lines = text.split(LINE_ENDS).filter((line) => line.trim() !== '');
    // The first line may have titles.
    const first = fieldsOf(lines[1] ?? lines[0] ?? '')[column - 1] ?? '';
    const { width = null, content } = found.columns[column - 1] ?? {};
    return { width, first, foreign: isForeign(content) ? content : null };
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
    const fields = fieldsOf(line);
    const uneven = this.#cells.add(line, fields, this.#line);
    if (uneven !== null) throw formError(uneven);
    const field = fields[column - 1];
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

/** Returns the only column that can be the samples. Throws `AssessError` if none or several can. */
function columnIn(found: Columns): number {
  const { columns, uneven, chosen } = found;
  if (uneven !== null) throw formError(uneven);
  if (chosen !== null && columns[chosen - 1]?.content === 'whole') return chosen;
  throw formError(`${describeColumns(found)}: ${nameColumn(found)}`);
}

/** Columns of a text: what each holds at its start, and which one can be the samples. */
import { type ForeignBase, foreignBase } from '../forms/digits.ts';
import { hexDigits, MAX_SAMPLE_BITS, OF_BASE, widthOf } from './numerals.ts';

/** Separators of fields: the first of these that a line has, else spaces. A comma may be a decimal sign beside the others. */
const SEPARATORS = [';', '\t', ','] as const;

export const LINE_ENDS = /\r\n?|\n/;

/** Rows of a column that is taken for a counter or a time. Random numbers grow in 8 rows with a probability of 1/8!. */
const ORDERED_ROWS = 8;
/** Enough if some are equal: random bits never fall in 32 rows with a probability below 2^-26. */
const NEVER_FALLING_ROWS = 32;

type Content = 'whole' | ForeignBase | 'hex' | 'number' | 'order' | 'constant' | 'text' | 'empty';

interface Column {
  readonly content: Content;
  /** Bits of the largest number; null if not all are whole numbers. */
  readonly width: number | null;
}

/** The columns at the start of a text. */
export interface Columns {
  readonly columns: readonly Column[];
  /** Says which line has another number of cells; null if there is none. */
  readonly uneven: string | null;
  /** The only column that can be the samples, from 1; null if there are none or several. */
  readonly chosen: number | null;
}

/** Looks at the columns. The first line may have titles, and the last one may be cut off. */
export function columnsOf(text: string): Columns {
  const lines = text.split(LINE_ENDS).filter((line) => line.trim() !== '');
  const body = (lines.length > 2 ? lines.slice(1, -1) : lines).map(fieldsOf);
  const count = Math.max(1, ...body.map((fields) => fields.length));
  const columns = Array.from({ length: count }, (_, at) =>
    columnOf(
      body.map((fields) => fields[at] ?? ''),
      count === 1,
    ),
  );
  const uneven = unevenLine(text);
  const can = columns.flatMap(({ content }, i) => (isCandidate(content) ? [i + 1] : []));
  const chosen = uneven === null && can.length === 1 ? (can[0] ?? null) : null;
  return { columns, uneven, chosen };
}

/** Returns what is said of the first line with another number of cells, but for the last line, which may be cut off. */
function unevenLine(text: string): string | null {
  const cells = new CellCount();
  for (const [i, line] of text.split(LINE_ENDS).slice(0, -1).entries()) {
    const says = line.trim() === '' ? null : cells.add(line, fieldsOf(line), i + 1);
    if (says !== null) return says;
  }
  return null;
}

function columnOf(fields: readonly string[], isAlone: boolean): Column {
  const filled = fields.filter((field) => field !== '');
  const width = widthOf(fields);
  const isWhole = isAlone && width !== null && foreignBase(filled) === null;
  return { content: isWhole ? 'whole' : contentOf(filled, width), width };
}

function contentOf(fields: readonly string[], width: number | null): Content {
  if (fields.length === 0) return 'empty';
  const numbers = fields.map(numberOf);
  const areNumbers = numbers.every((number) => number !== null);
  if (fields.length >= ORDERED_ROWS && fields.every((field) => field === fields[0])) {
    return 'constant';
  }
  if (areNumbers && isOrdered(numbers as number[])) return 'order';
  if (width !== null) return foreignBase(fields) ?? 'whole';
  if (isHex(fields)) return 'hex';
  return numbers.some((number) => number !== null) ? 'number' : 'text';
}

/** Numbers that could be samples: a column beside them is not read before one is named. */
function isCandidate(content: Content): boolean {
  return content === 'whole' || content === 'hex' || content === 'number' || isForeign(content);
}

/** True for numbers of another base than ten. */
export function isForeign(content: string | undefined): content is ForeignBase {
  return content === 'binary' || content === 'octal';
}

/** True for numbers of a constant step, and for those that grow. */
function isOrdered(numbers: readonly number[]): boolean {
  if (numbers.length < ORDERED_ROWS) return false;
  const steps = numbers.slice(1).map((number, i) => number - (numbers[i] as number));
  if (steps.every((step) => step > 0 || step === steps[0])) return true;
  return numbers.length >= NEVER_FALLING_ROWS && steps.every((step) => step >= 0);
}

/** Returns a number also with a decimal comma, and what is written for one that is missing; null for other text. */
function numberOf(field: string): number | null {
  if (/^[+-]?(?:nan|inf(?:inity)?)$/i.test(field)) return Number.NaN;
  const number = Number(field.replace(',', '.'));
  return field === '' || Number.isNaN(number) ? null : number;
}

/** True for several numbers with as many digits each, as `%02x` writes them. */
function isHex(fields: readonly string[]): boolean {
  const digits = fields.map(hexDigits);
  const [first] = digits;
  return digits.length > 1 && digits.every((one) => one !== null && one.length === first?.length);
}

/** Groups of columns that are described. */
const MOST_DESCRIBED = 6;

/** Returns what the columns hold, as a part of a sentence. Neighbours that hold the same are named together. */
export function describeColumns({ columns }: Columns): string {
  const groups: { from: number; to: number; what: string }[] = [];
  for (const [i, column] of columns.entries()) {
    const what = describe(column);
    const last = groups.at(-1);
    if (last?.what === what) last.to = i + 1;
    else groups.push({ from: i + 1, to: i + 1, what });
  }
  const parts = groups
    .slice(0, MOST_DESCRIBED)
    .map(({ from, to, what }) =>
      from === to ? `column ${from} holds ${what}` : `columns ${from} to ${to} hold ${what}`,
    );
  return groups.length > MOST_DESCRIBED ? `${parts.join(', ')}, and others` : parts.join(', ');
}

function describe({ content, width }: Column): string {
  switch (content) {
    case 'whole':
      return `whole numbers of ${width} ${width === 1 ? 'bit' : 'bits'}`;
    case 'binary':
    case 'octal':
      return `${content} numbers`;
    case 'hex':
      return 'hexadecimal numbers';
    case 'number':
      return 'signed, fractional or missing numbers';
    case 'order':
      return 'a counter or a time';
    case 'constant':
      return 'the same in every row';
    case 'text':
      return 'text';
    default:
      return 'nothing';
  }
}

/** Returns what to do if no column, or none that is read, is the only one that can be the samples. */
export function nameColumn(found: Columns): string {
  const foreign = found.columns[(found.chosen ?? 0) - 1]?.content;
  if (isForeign(foreign)) return OF_BASE[foreign];
  const format = formatOfColumns(found) ?? 'csv:COLUMN';
  const hasOthers = found.columns.some(({ content }) => content === 'number');
  const others = hasOthers ? ' (only whole numbers from 0 up are read)' : '';
  return `name the column of the samples, ${format}${others}`;
}

/** Returns the format that reads the only column that can be the samples; null if there is none. */
export function formatOfColumns({ columns, chosen }: Columns): string | null {
  const column = chosen === null ? undefined : columns[chosen - 1];
  if (column?.content === 'hex') return `csv:${chosen}:hex`;
  const isRead = column?.content === 'whole' && (column.width ?? 0) <= MAX_SAMPLE_BITS;
  return isRead ? `csv:${chosen}` : null;
}

/** Compares the numbers of cells of all lines. */
export class CellCount {
  #first: { readonly count: number; readonly line: number; readonly endsEmpty: boolean } | null =
    null;

  /** Returns what is said of a line that has another number of cells than the first one; else null. */
  add(line: string, fields: readonly string[], number: number): string | null {
    if (number === 1 && hasWords(line)) return null;
    const endsEmpty = fields.at(-1) === '';
    this.#first ??= { count: fields.length, line: number, endsEmpty };
    const { count, line: first } = this.#first;
    const more = fields.length - count;
    // A separator may stand at the end of a line.
    if (more === 0 || (more === 1 && endsEmpty) || (more === -1 && this.#first.endsEmpty)) {
      return null;
    }
    const cells = `${fields.length} ${fields.length === 1 ? 'cell' : 'cells'}`;
    return `line ${number} has ${cells}, and line ${first} has ${count}: fill in or remove the line, or separate cells by semicolons if numbers have commas`;
  }
}

/** True for words of a title that nothing but spaces separates: a title of one column may have several. */
function hasWords(line: string): boolean {
  return separatorOf(line) === undefined && /\S\s+\S/.test(line.trim()) && /[^\d\s.+-]/.test(line);
}

function separatorOf(line: string): string | undefined {
  const unquoted = line.includes('"') ? line.replace(/"[^"]*"/g, '') : line;
  return SEPARATORS.find((candidate) => unquoted.includes(candidate));
}

/** Returns the fields of a line, without spaces around them and without quotes. */
export function fieldsOf(line: string): string[] {
  const separator = separatorOf(line);
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

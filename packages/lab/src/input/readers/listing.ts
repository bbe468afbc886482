/** Listings with offsets, as `od`, `hexdump` and `xxd` write them. */
import { formError } from './decoder.ts';
import { LineDecoder } from './lines.ts';

/** How a group of digits shows bytes. */
interface Cell {
  readonly bytes: number;
  readonly base: 2 | 8 | 16;
  /** True for words of a machine whose least significant byte comes first, as `od` and `hexdump` show them. */
  readonly isWord: boolean;
}

/** How a listing is read. Several fit until two offsets are known. */
interface Layout {
  readonly cell: Cell;
  readonly offsetBase: 8 | 10 | 16;
}

interface Line {
  readonly offset: string;
  /** As `xxd` has after the offset. */
  readonly hasColon: boolean;
  readonly groups: readonly string[];
  /** The characters beside the groups; null if there are none. */
  readonly beside: string | null;
  readonly number: number;
}

const NOT_READ =
  'listings of decimal numbers or characters are not read; give the bytes, or what od -An -v -tx1 writes of them';

const OFFSET = /^\s*(?:0x)?([0-9a-f]{1,16})(:?)(?:\s+(.*))?$/i;
const BASES = [16, 8, 10] as const;

export class ListingDecoder extends LineDecoder {
  /** The line whose end the next offset shows. */
  #pending: Line | null = null;
  #layouts: readonly Layout[] = [];
  #hasEnded = false;

  protected takeLine(text: string, number: number): void {
    if (this.#hasEnded) throw faultIn(number, 'found more after the offset at the end');
    if (text.trim() === '*') {
      throw faultIn(
        number,
        '"*" stands for lines that are left out: list all, with od -v, hexdump -v or xxd without -a',
      );
    }
    const line = lineOf(text, number);
    if (this.#pending) this.#endPending(this.#pending, line);
    else this.#layouts = layoutsOf(line);
    if (this.#pending && line.hasColon !== this.#pending.hasColon) {
      throw faultIn(number, 'the line has another form than the one before');
    }
    this.#pending = line;
    if (line.groups.length === 0) this.#hasEnded = true;
  }

  /** Emits a line that ends where the next one begins. */
  #endPending(line: Line, next: Line): void {
    this.#layouts = this.#layouts.filter((layout) => fits(layout, line, next));
    const [layout] = this.#layouts;
    if (!layout) {
      throw faultIn(
        next.number,
        `offset ${next.offset} does not follow the bytes of the line before`,
      );
    }
    const span = spanOf(layout, line, next);
    if (this.#layouts.some((other) => spanOf(other, line, next) !== span)) {
      throw faultIn(next.number, `offset ${next.offset} may be octal, decimal or hexadecimal`);
    }
    this.#emitLine(line, layout.cell, span);
  }

  #emitLine(line: Line, cell: Cell, span: number): void {
    const bytes = bytesOf(line, cell);
    const shown = bytes.slice(0, span);
    bytes.fill(0);
    if (!standsBeside(line, shown)) {
      throw faultIn(line.number, 'the characters beside the digits are not those of the bytes');
    }
    this.emit(shown);
  }

  protected finish(): void {
    const line = this.#pending;
    if (!line) throw formError('the listing has no lines');
    if (this.#hasEnded) return;
    // Only xxd ends without an offset.
    if (!line.hasColon) throw formError('the listing does not end with an offset: it is cut off');
    const [cell, ...others] = new Set(this.#layouts.map((layout) => layout.cell));
    if (!cell) throw faultIn(line.number, 'the line shows no bytes');
    // A sole line may be of xxd -b.
    const right = others.find((other) => standsBeside(line, bytesOf(line, other))) ?? cell;
    this.#emitLine(line, right, line.groups.join('').length / digitsOf(right));
  }
}

function faultIn(line: number, text: string): Error {
  return formError(`line ${line}: ${text}`);
}

/** Cuts a line into its offset, its groups, and what stands beside them. */
function lineOf(text: string, number: number): Line {
  const [, offset, colon, rest = ''] = OFFSET.exec(text) ?? [];
  if (offset === undefined) throw faultIn(number, 'expected an offset and bytes');
  const hasColon = colon === ':';
  const [, groups = '', beside = null] = hasColon
    ? (/^((?:[0-9a-f]+ )*[0-9a-f]+)(?: {2}(.*))?\s*$/i.exec(rest) ?? [])
    : (/^([0-9a-f\s]*)(?:[|>](.*)[|<]\s*)?$/i.exec(rest) ?? []);
  if (rest.trim() !== '' && groups.trim() === '') {
    throw faultIn(number, `expected bytes in groups of digits: ${NOT_READ}`);
  }
  const cut = groups.trim() === '' ? [] : groups.trim().split(/\s+/);
  return { offset, hasColon, groups: cut, beside, number };
}

/** Returns every way to read the first line. */
function layoutsOf({ groups, hasColon, number }: Line): Layout[] {
  const [first] = groups;
  if (first === undefined) throw faultIn(number, 'expected an offset and bytes');
  const cells = cellsOf(groups, hasColon);
  if (cells.length === 0) {
    throw faultIn(
      number,
      `expected bytes or words in hexadecimal or octal digits, such as of od -tx1: ${NOT_READ}`,
    );
  }
  return cells.flatMap((cell) => BASES.map((offsetBase) => ({ cell, offsetBase })));
}

function cellsOf(groups: readonly string[], hasColon: boolean): Cell[] {
  const [first = ''] = groups;
  const { length } = first;
  if (hasColon) {
    const isBinary = length === 8 && groups.every((group) => /^[01]{8}$/.test(group));
    const hex: Cell = { bytes: length / 2, base: 16, isWord: false };
    return [...(length % 2 === 0 ? [hex] : []), ...(isBinary ? [BINARY] : [])];
  }
  // As decimal numbers have. The last word of a hexadecimal listing may be shorter.
  if (groups.slice(0, -1).some((group) => group.length !== length)) return [];
  if (length === 3) return [{ bytes: 1, base: 8, isWord: false }];
  if (length === 6) return [{ bytes: 2, base: 8, isWord: true }];
  return [2, 4, 8, 16].includes(length) ? [{ bytes: length / 2, base: 16, isWord: true }] : [];
}

const BINARY: Cell = { bytes: 1, base: 2, isWord: false };

/** Digits of a byte that is no word. */
function digitsOf({ base }: Cell): number {
  return base === 2 ? 8 : base === 8 ? 3 : 2;
}

/** Returns the bytes between two lines; NaN if an offset has other digits. */
function spanOf({ offsetBase }: Layout, line: Line, next: Line): number {
  return offsetOf(next.offset, offsetBase) - offsetOf(line.offset, offsetBase);
}

function offsetOf(text: string, base: number): number {
  const allowed = { 8: /^[0-7]+$/, 10: /^[0-9]+$/, 16: /^[0-9a-f]+$/i }[base];
  return allowed?.test(text) ? Number.parseInt(text, base) : Number.NaN;
}

/** The last word of an input may have bytes that are not of it, which are zero. */
function fits(layout: Layout, line: Line, next: Line): boolean {
  const { cell } = layout;
  const { groups } = line;
  const span = spanOf(layout, line, next);
  if (!cell.isWord) return span === groups.join('').length / digitsOf(cell);
  const shown = groups.length * cell.bytes;
  if (!(span <= shown && span > shown - cell.bytes)) return false;
  return (
    span === shown ||
    bytesOf(line, cell)
      .subarray(span)
      .every((byte) => byte === 0)
  );
}

function bytesOf({ groups, number }: Line, cell: Cell): Uint8Array {
  const bytes = groups.flatMap((group, i) => {
    const isLast = i === groups.length - 1;
    const found = cell.isWord ? wordBytes(group, cell) : plainBytes(group, cell, isLast);
    if (!found)
      throw faultIn(number, `"${group.slice(0, 40)}" is no group as the others: ${NOT_READ}`);
    return found;
  });
  return Uint8Array.from(bytes);
}

function wordBytes(group: string, { bytes, base }: Cell): number[] | null {
  const digits = base === 8 ? /^[01][0-7]{5}$/ : /^[0-9a-f]+$/i;
  const length = base === 8 ? 6 : 2 * bytes;
  if (group.length !== length || !digits.test(group)) return null;
  const value = BigInt(base === 8 ? `0o${group}` : `0x${group}`);
  return Array.from({ length: bytes }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}

/** The last group may be shorter. */
function plainBytes(group: string, cell: Cell, isLast: boolean): number[] | null {
  const length = cell.base === 16 ? 2 * cell.bytes : digitsOf(cell);
  const digits = { 2: /^[01]+$/, 8: /^[0-3][0-7]{2}$/, 16: /^(?:[0-9a-f]{2})+$/i }[cell.base];
  if (!digits.test(group) || group.length > length) return null;
  if (group.length < length && !isLast) return null;
  const each = digitsOf(cell);
  return Array.from({ length: group.length / each }, (_, i) =>
    Number.parseInt(group.slice(each * i, each * (i + 1)), cell.base),
  );
}

/** False unless the characters beside the digits are those of the bytes, as with `xxd -e`, whose words are turned. */
function standsBeside({ beside }: Line, bytes: Uint8Array): boolean {
  if (beside === null) return true;
  const expected = String.fromCharCode(
    ...bytes.map((byte) => (byte >= 0x20 && byte < 0x7f ? byte : 0x2e)),
  );
  // Editors cut off spaces at the end of a line, and xxd fills up the last line before the characters.
  return beside.trim() === expected.trim();
}

/** The rows of one table in a file of a move. */
import {
  accountColumn,
  type Column,
  columnsOf,
  TABLES,
  type Table,
  type TableName,
  type Value,
} from '../tables.ts';
import { Tally } from './tally.ts';

/** Reads the rows of one table, and checks each. An export checks its own rows in this way, too. */
export class Section {
  readonly table: TableName;
  readonly tally: Tally;
  readonly accountColumn: number;
  readonly #refuse: (problem: string) => never;
  /** The position of each column in a line; -1 if the file is older than the column. */
  readonly #places: readonly (readonly [Column, number])[];
  readonly #width: number;
  readonly #keyLength: number;
  readonly #misfit: Table['misfit'];
  #previous: Value[] | null = null;

  constructor(table: TableName, columns: unknown, refuse: (problem: string) => never) {
    this.table = table;
    this.tally = new Tally(table);
    this.accountColumn = accountColumn(table);
    this.#refuse = refuse;
    const { keyLength, misfit }: Table = TABLES[table];
    this.#keyLength = keyLength;
    this.#misfit = misfit;
    const names = Array.isArray(columns) ? columns : [];
    this.#width = names.length;
    this.#places = columnsOf(table).map((column) => [column, names.indexOf(column.name)] as const);
    const known = this.#places.filter(([, place]) => place >= 0).length;
    const missing = this.#places.find(
      ([column, place]) => place < 0 && column.absent === undefined,
    );
    if (missing) refuse(`the column "${missing[0].name}" is missing`);
    if (known !== names.length) {
      refuse(
        `this program knows the columns ${columnsOf(table)
          .map(({ name }) => name)
          .join(', ')}; use the release that wrote the file, or a newer one`,
      );
    }
  }

  read(json: readonly unknown[]): Value[] {
    if (json.length !== this.#width)
      this.#refuse(`a row of ${this.#width} values is expected here`);
    const row = this.#places.map(([column, place]): Value => {
      const value = place < 0 ? column.absent : column.read(json[place]);
      return value === undefined
        ? this.#refuse(`${column.name} must be ${column.expected}`)
        : value;
    });
    const misfit = this.#misfit?.(row);
    if (misfit !== undefined) this.#refuse(misfit);
    if (this.#previous && compareKeys(this.#previous, row, this.#keyLength) >= 0) {
      this.#refuse('rows must be in the order of their key, without duplicates');
    }
    this.#previous = row;
    const tooLarge = this.tally.add(row);
    if (tooLarge !== undefined) {
      const { MAX_SAFE_INTEGER } = Number;
      this.#refuse(`${tooLarge} of an account add up to more than ${MAX_SAFE_INTEGER}`);
    }
    return row;
  }
}

/** Compares text by its bytes, as databases do: the order of UTF-16 differs. */
function compareKeys(one: readonly Value[], other: readonly Value[], length: number): number {
  for (let i = 0; i < length; i++) {
    const [a, b] = [one[i] ?? 0, other[i] ?? 0];
    if (a instanceof Uint8Array && b instanceof Uint8Array) {
      const order = Buffer.compare(a, b);
      if (order !== 0) return order;
      continue;
    }
    if (a === b) continue;
    if (typeof a === 'string' && typeof b === 'string') {
      return Buffer.compare(Buffer.from(a), Buffer.from(b));
    }
    return a < b ? -1 : 1;
  }
  return 0;
}

/** Rows and sums by account, to compare both ends of a move. */
import { SetupError } from '../../errors.ts';
import { accountColumn, columnsOf, type RowCounts, type TableName, type Value } from '../tables.ts';

/** The contents of one table: for each account, the number of rows and the sums of the summed columns. */
export class Tally {
  readonly #account: number;
  readonly #summed: readonly number[];
  readonly #names: readonly string[];
  readonly #sums = new Map<string, { rows: number; sums: bigint[] }>();

  constructor(table: TableName) {
    this.#account = accountColumn(table);
    this.#names = columnsOf(table).map(({ name }) => name);
    this.#summed = columnsOf(table).flatMap((column, i) => (column.summed ? [i] : []));
  }

  /** Adds a row. Returns the name of a column whose sum exceeds the safe integers. */
  add(row: readonly Value[]): string | undefined {
    const account = this.#account < 0 ? '' : String(row[this.#account]);
    let entry = this.#sums.get(account);
    if (!entry) {
      entry = { rows: 0, sums: this.#summed.map(() => 0n) };
      this.#sums.set(account, entry);
    }
    entry.rows += 1;
    for (const [i, column] of this.#summed.entries()) {
      entry.sums[i] = (entry.sums[i] ?? 0n) + BigInt(Number(row[column]));
    }
    const tooLarge = entry.sums.findIndex((sum) => sum > Number.MAX_SAFE_INTEGER);
    return tooLarge < 0 ? undefined : this.#names[this.#summed[tooLarge]];
  }

  /** Returns true if `other`, which a database has summed as `rows sum sum …`, is equal. */
  equals(other: ReadonlyMap<string, string>): boolean {
    if (other.size !== this.#sums.size) return false;
    return [...this.#sums].every(
      ([account, { rows, sums }]) => other.get(account) === [rows, ...sums].join(' '),
    );
  }
}

/** Throws `SetupError` unless all tables are empty. */
export function refuseFilled(counts: RowCounts): void {
  const filled = Object.entries(counts).filter(([, rows]) => rows > 0);
  if (filled.length === 0) return;
  const found = filled.map(([table, rows]) => `${table} (${rows} rows)`).join(', ');
  throw new SetupError(
    `an import needs an empty ledger, and this one holds ${found}; name a new database, or a new data directory`,
  );
}

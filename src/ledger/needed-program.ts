/**
 * Which programs rows need: those that know every column with a value. The transaction that brings the rows raises
 * `schema_version.oldest_program` to their version, so that older programs refuse the ledger from then on.
 */
import { type ApiKeySettings, SETTING_COLUMNS, settingValues } from './api-keys.ts';
import type { Column } from './column-kinds.ts';
import { NEW_COLUMNS } from './key-columns.ts';
import type { LedgerRow } from './ledger-row.ts';
import { columnsOf, TABLE_NAMES, type TableName, type Value } from './tables.ts';

/** The columns of each table that not all programs know, with their positions. */
const LATER = new Map(
  TABLE_NAMES.map((table) => [
    table,
    columnsOf(table)
      .map((column, position) => ({ ...column, position }))
      .filter(isLater),
  ]),
);

const LATER_OF_KEY = NEW_COLUMNS.filter(isLater);

const LATER_SETTINGS = SETTING_COLUMNS.split(', ').flatMap((name, position) =>
  (LATER.get('api_keys') ?? [])
    .filter((column) => column.name === name)
    .map((column) => ({ ...column, position })),
);

/** Returns the schema version of the oldest programs that can work with rows of a table; 0 if all can. */
export function neededProgram(table: TableName, rows: readonly (readonly Value[])[]): number {
  const columns = LATER.get(table) ?? [];
  return highest(columns, rows, ({ position }, row) => row[position]);
}

/** Returns the version, as `neededProgram` does, for rows of new keys. */
export function neededByKeys(rows: readonly LedgerRow[]): number {
  return highest(LATER_OF_KEY, rows, ({ valueIn }, row) => valueIn(row));
}

/** Returns the version, as `neededProgram` does, for a new API key with these settings. */
export function neededBySettings(settings: Partial<ApiKeySettings>): number {
  return highest(LATER_SETTINGS, [settingValues(settings)], ({ position }, row) => row[position]);
}

function isLater<Kind extends Column>(column: Kind): column is Kind & { readonly needs: number } {
  return column.needs !== undefined;
}

function highest<Kind extends Column & { readonly needs: number }, Row>(
  columns: readonly Kind[],
  rows: readonly Row[],
  valueAt: (column: Kind, row: Row) => unknown,
): number {
  let version = 0;
  for (const column of columns) {
    if (column.needs > version && rows.some((row) => valueAt(column, row) !== column.absent)) {
      version = column.needs;
    }
  }
  return version;
}

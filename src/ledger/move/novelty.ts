/** What rows of a move need of the programs that work with them afterwards. */
import {
  type Column,
  columnsOf,
  NOVELTIES,
  type Novelty,
  TABLE_NAMES,
  type TableName,
  type Value,
} from '../tables.ts';

/** The columns of each table that older programs do not know, with their positions, the newest first. */
const NEW = new Map(TABLE_NAMES.map((table) => [table, newColumns(columnsOf(table))]));

/** Returns the newest thing that a row needs; null if it needs nothing. */
export function noveltyOf(table: TableName, row: readonly Value[]): Novelty | null {
  if (table === 'key_states') return 'records';
  const found = NEW.get(table)?.find(({ position, absent }) => row[position] !== absent);
  return found?.needs ?? null;
}

function newColumns(columns: readonly Column[]) {
  const rankOf = ({ needs }: Column) => (needs ? NOVELTIES.indexOf(needs) : -1);
  return columns
    .map((column, position) => ({ ...column, position }))
    .filter(({ needs }) => needs !== undefined)
    .sort((one, other) => rankOf(other) - rankOf(one));
}

/** What rows of a move need of the programs that work with them afterwards. */
import { columnsOf, type TableName, type Value } from '../tables.ts';

/** What only later programs know, in the order of their schemas. */
export type Novelty = 'sealing' | 'records' | 'api_keys' | 'accounts';

/** Columns that older programs do not know and that mean something if they are set, the newest first. */
const COLUMNS: readonly (readonly [Novelty, TableName, readonly string[]])[] = [
  ['accounts', 'accounts', ['suspended_ms', 'deleted_ms', 'state_audit_id']],
  [
    'api_keys',
    'api_keys',
    ['scopes', 'expires_ms', 'address_ranges', 'rate_per_second', 'burst', 'monthly_limit'],
  ],
  ['records', 'ledger', ['labels', 'expires_ms']],
  ['sealing', 'ledger', ['sealed_to']],
];

const POSITIONS = COLUMNS.map(([novelty, table, names]) => ({
  novelty,
  table,
  columns: names.map((name) => positionOf(table, name)),
}));
const SEALED_ONLY = positionOf('accounts', 'sealed_only');

/** Returns the newest thing that a row needs; null if it needs nothing. */
export function noveltyOf(table: TableName, row: readonly Value[]): Novelty | null {
  if (table === 'key_states') return 'records';
  const found = POSITIONS.find(
    (one) => one.table === table && one.columns.some((i) => row[i] !== null),
  );
  if (found) return found.novelty;
  return table === 'accounts' && row[SEALED_ONLY] !== 'off' ? 'sealing' : null;
}

function positionOf(table: TableName, name: string): number {
  return columnsOf(table).findIndex((column) => column.name === name);
}

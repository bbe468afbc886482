/** Describes numbers of things in words. */
import type { RowCounts } from '../../ledger/index.ts';

/** Describes the size of a ledger. */
export function describeRows({ accounts, api_keys, ledger }: RowCounts): string {
  return `${counted(accounts, 'account')}, ${counted(api_keys, 'API key')}, ${counted(ledger, 'ledger row')}`;
}

/** Describes what an export or an import moves: the ledger, and its logs if there are any. */
export function describeContents(rows: RowCounts): string {
  if (rows.logs === 0) return describeRows(rows);
  const entries = counted(rows.log_entries, 'log entry', 'log entries');
  return `${describeRows(rows)}, ${counted(rows.logs, 'log')}, ${entries}`;
}

/** Returns a number with its noun, such as `1 account` or `5,120 keys`. */
export function counted(number: number, noun: string, many: string = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : many}`;
}

/** Returns the noun in the form that the number requires. */
export function plural(number: number, noun: string): string {
  return number === 1 ? noun : `${noun}s`;
}

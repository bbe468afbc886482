/** Describes numbers of things in words. */
import type { RowCounts } from '../../ledger/admin.ts';

/** Describes the size of a ledger. */
export function describeRows({ accounts, api_keys, ledger }: RowCounts): string {
  return `${counted(accounts, 'account')}, ${counted(api_keys, 'API key')}, ${counted(ledger, 'ledger row')}`;
}

/** Describes what an export or an import moves: the ledger, and what else there is. */
export function describeContents(rows: RowCounts): string {
  const { recipients, idempotency, key_states: states, logs, log_entries: entries } = rows;
  const parts = [describeRows(rows)];
  if (recipients > 0) parts.push(counted(recipients, 'recipient'));
  if (idempotency > 0) parts.push(counted(idempotency, 'record of a retry', 'records of retries'));
  if (states > 0) parts.push(counted(states, 'key with a state', 'keys with a state'));
  if (logs > 0) parts.push(counted(logs, 'log'), counted(entries, 'log entry', 'log entries'));
  return parts.join(', ');
}

/** Returns a number with its noun, such as `1 account` or `5,120 keys`. */
export function counted(number: number, noun: string, many: string = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : many}`;
}

/** Returns the noun in the form that the number requires. */
export function plural(number: number, noun: string): string {
  return number === 1 ? noun : `${noun}s`;
}

/** Describes the size of a ledger in words. */
import type { RowCounts } from '../../ledger/index.ts';

export function describeRows({ accounts, api_keys, ledger }: RowCounts): string {
  return `${count(accounts, 'account')}, ${count(api_keys, 'API key')}, ${count(ledger, 'ledger row')}`;
}

function count(n: number, name: string): string {
  return `${n.toLocaleString('en')} ${name}${n === 1 ? '' : 's'}`;
}

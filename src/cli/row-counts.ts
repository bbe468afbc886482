/** The size of a ledger in words. */
import type { RowCounts } from '../ledger/index.ts';

export function describeRows({ accounts, api_keys, ledger }: RowCounts): string {
  const [one, other, rows] = [accounts, api_keys, ledger].map((n) => n.toLocaleString('en'));
  return `${one} accounts, ${other} API keys, ${rows} ledger rows`;
}

/** The refusal of an account ID that the ledger does not have. */
import type { LedgerStore } from '../../ledger/index.ts';
import { CommandError } from '../command-error.ts';

/** Throws `CommandError` if the ledger has no such account. Without an ID it does nothing. */
export async function requireAccount(
  store: LedgerStore,
  accountId: string | undefined,
): Promise<void> {
  if (accountId === undefined) return;
  const accounts = await store.listAccounts();
  if (accounts.some((account) => account.accountId === accountId)) return;
  throw unknownAccount(accountId);
}

export function unknownAccount(accountId: string): CommandError {
  return new CommandError(`there is no account ${accountId}. To list them: phm account list`, 1);
}

/** The refusals of account IDs that the ledger does not have, or that are deleted. */
import { CommandError } from '#platform/commands';
import type { LedgerStore } from '../../ledger/index.ts';

/** Throws `CommandError` if the ledger has no such account. Without an ID it does nothing. */
export async function requireAccount(
  store: LedgerStore,
  accountId: string | undefined,
): Promise<void> {
  if (accountId === undefined || (await store.findAccount(accountId)) !== null) return;
  throw unknownAccount(accountId);
}

/** Returns why the ledger refused a change of this account: it is unknown, or deleted. */
export async function whyRefused(store: LedgerStore, accountId: string): Promise<CommandError> {
  const account = await store.findAccount(accountId);
  return account === null ? unknownAccount(accountId) : deletedAccount(accountId);
}

export function unknownAccount(accountId: string): CommandError {
  return new CommandError(`there is no account ${accountId}. To list them: phm account list`, 1);
}

export function deletedAccount(accountId: string): CommandError {
  return new CommandError(`account ${accountId} is deleted, which cannot be undone`, 1);
}

/** `phm account show|suspend|resume|delete`: shows and changes the state of an account. */

import type { Command } from 'commander';
import { CommandError, writeJson } from '#platform/commands';
import { formatTimestamp } from '../../clock.ts';
import type { Config } from '../../config/index.ts';
import { formatAuditId } from '../../keys/terms.ts';
import {
  type Account,
  type AccountChange,
  type AccountRecord,
  type AccountState,
  type ApiKeyRecord,
  type AuditAction,
  accountState,
  detailsOf,
  type LedgerStore,
} from '../../ledger/index.ts';
import { commandLine } from '../../process/launcher.ts';
import type { CliContext } from '../context.ts';
import { apiKeyRow } from './api-key-settings.ts';
import { auditOf } from './audit-record.ts';
import { deletedAccount, unknownAccount } from './known-account.ts';
import { counted } from './row-counts.ts';
import { withStore, withStoreToRead } from './with-store.ts';

const MAX_REASON = 500;

/** Attempts of a change while other commands change the same account. */
const MAX_ATTEMPTS = 5;

const SUSPEND_HELP = `
Every request of its API keys is answered 403 account_suspended, without the reason. Requests that servers have already
admitted end normally. Keys that the account has generated stay as they are, and other accounts can validate them.
To undo it: phm account resume ACCOUNT

Example:
  phm account suspend acct_4d8f --reason "floods the service, ticket 4711"
`;

const DELETE_HELP = `
This cannot be undone. All API keys of the account are revoked, its recipients are removed, and its name is erased. Its
ID, the rows of its keys, their receipts, sums and audit records stay. Its keys stay valid, but can no longer be revoked.

Example:
  phm account delete acct_4d8f --confirm acct_4d8f
`;

const ACTIONS: Readonly<Record<AccountState, AuditAction>> = {
  active: 'account_resumed',
  suspended: 'account_suspended',
  deleted: 'account_deleted',
};

const EFFECTS: Readonly<Record<AccountState, string>> = {
  active: 'Running servers serve its API keys within 2 seconds.',
  suspended: 'Running servers refuse its API keys within 2 seconds.',
  deleted: 'Its API keys are revoked. Running servers refuse them within 2 seconds.',
};

interface JsonOption {
  readonly json?: boolean;
}

export function addAccountStateCommands(account: Command, context: CliContext): void {
  account
    .command('show <account>')
    .description('show an account: its settings, its state, and the reason of a suspension')
    .option('--json', 'write the result as JSON')
    .action((accountId, options) => show(context, accountId, options));
  account
    .command('suspend <account>')
    .description('refuse all requests of an account until it is resumed')
    .requiredOption('--reason <text>', 'reason for the audit record, which callers do not see')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', SUSPEND_HELP)
    .action((accountId, options) => suspend(context, accountId, options));
  account
    .command('resume <account>')
    .description('end the suspension of an account')
    .option('--json', 'write the result as JSON')
    .action((accountId, options) => resume(context, accountId, options));
  account
    .command('delete <account>')
    .description('delete an account for good; the records of its keys stay')
    .option('--confirm <account>', 'the ID of the account once more')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', DELETE_HELP)
    .action((accountId, options) => remove(context, accountId, options));
}

/** Returns the state of an account as JSON. */
export function stateJson(account: Account) {
  const { suspendedMs, deletedMs } = account;
  const format = (ms: number | null) => (ms === null ? null : formatTimestamp(ms));
  return {
    state: accountState(account),
    suspended_at: format(suspendedMs),
    deleted_at: format(deletedMs),
  };
}

async function suspend(
  context: CliContext,
  accountId: string,
  { reason: given, json }: JsonOption & { reason: string },
): Promise<void> {
  const reason = given.trim();
  if (reason === '' || reason.length > MAX_REASON || /\p{Cc}/u.test(reason)) {
    throw new CommandError(`--reason needs 1 to ${MAX_REASON} printable characters`, 2);
  }
  tell(context, await bring(context, accountId, 'suspended', { reason }), json);
}

async function resume(context: CliContext, accountId: string, { json }: JsonOption): Promise<void> {
  tell(context, await bring(context, accountId, 'active', {}), json);
}

async function remove(
  context: CliContext,
  accountId: string,
  { confirm, json }: JsonOption & { confirm?: string },
): Promise<void> {
  if (confirm !== accountId) throw await unconfirmed(context, accountId, confirm);
  tell(context, await bring(context, accountId, 'deleted', {}), json);
}

/** Returns the refusal of a deletion without its confirmation, which says what would be deleted. */
async function unconfirmed(
  context: CliContext,
  accountId: string,
  confirm: string | undefined,
): Promise<CommandError> {
  const { account, apiKeys, recipients } = await withStoreToRead(context, (store) =>
    read(store, accountId),
  );
  if (accountState(account) === 'deleted') return deletedAccount(accountId);
  const again = commandLine(context, `account delete ${accountId} --confirm ${accountId}`);
  const active = apiKeys.filter(isActive).length;
  return new CommandError(
    [
      confirm === undefined
        ? 'nothing was deleted'
        : `--confirm is ${confirm}, so nothing was deleted`,
      `This would delete account ${accountId}, "${account.name}", for good, with ${counted(active, 'active API key')} and ` +
        `${counted(recipients.length, 'recipient')}. To do it: ${again}`,
    ],
    2,
  );
}

interface Changed {
  readonly account: AccountRecord;
  /** False if the account was in this state already. */
  readonly isNew: boolean;
}

/** Brings an account to a state, with its audit record. Throws `CommandError` if it is unknown, or deleted. */
function bring(
  context: CliContext,
  accountId: string,
  to: AccountState,
  details: { readonly reason?: string },
): Promise<Changed> {
  return withStore(context, async (store, config) => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { stateAudit: after } = await requireState(store, accountId, to);
      const order = { accountId, to, after, atMs: Date.now() };
      const audit = await changeAudit(store, config, order, details);
      const outcome = await store.changeAccountState(order, audit);
      if (outcome !== 'changed' && outcome !== 'unchanged') continue;
      return {
        account: await requireState(store, accountId, to),
        isNew: outcome === 'changed',
      };
    }
    throw new CommandError(`other commands keep changing account ${accountId}: try again`, 1);
  });
}

/** Returns the account. Throws `CommandError` if it is unknown, or is deleted and may not get this state. */
async function requireState(
  store: LedgerStore,
  accountId: string,
  to: AccountState,
): Promise<AccountRecord> {
  const account = await store.findAccount(accountId);
  if (account === null) throw unknownAccount(accountId);
  if (account.deletedMs !== null && to !== 'deleted') throw deletedAccount(accountId);
  return account;
}

/** Returns the audit record of a change. It names the record of the change before, so that `phm log check` misses none. */
function changeAudit(
  store: LedgerStore,
  config: Config,
  order: AccountChange,
  details: { readonly reason?: string },
) {
  const { accountId, to, after, atMs } = order;
  return auditOf(store, config, {
    atMs,
    action: ACTIONS[to],
    details: { account_id: accountId, after: after && formatAuditId(after), ...details },
  });
}

function tell(context: CliContext, { account, isNew }: Changed, json = false): void {
  const { accountId } = account;
  if (json) {
    writeJson(context, { account_id: accountId, ...stateJson(account), changed: isNew });
    return;
  }
  const state = accountState(account);
  const since = account.change ? ` since ${formatTimestamp(account.change.atMs)}` : '';
  context.err(
    isNew
      ? `Account ${accountId} is ${state}. ${EFFECTS[state]}\n`
      : `Account ${accountId} has been ${state}${since}. Nothing changed.\n`,
  );
}

async function show(context: CliContext, accountId: string, { json }: JsonOption): Promise<void> {
  const { account, apiKeys, recipients } = await withStoreToRead(context, (store) =>
    read(store, accountId),
  );
  const reason = reasonOf(account);
  const result = {
    account_id: accountId,
    name: account.name,
    plan: account.plan,
    demo: account.demo,
    sealed_only: account.sealedOnly,
    created_at: formatTimestamp(account.createdMs),
    ...stateJson(account),
    reason,
    active_api_keys: apiKeys.filter(isActive).length,
    api_keys: apiKeys.length,
    recipients: recipients.length,
  };
  if (json) {
    writeJson(context, result);
    return;
  }
  const width = Math.max(...Object.keys(result).map((name) => name.length));
  for (const [name, value] of Object.entries(result)) {
    if (value !== null) context.out(`${name.padEnd(width)}  ${value}\n`);
  }
}

const isActive = (apiKey: ApiKeyRecord): boolean =>
  apiKeyRow(apiKey, Date.now()).state === 'active';

async function read(store: LedgerStore, accountId: string) {
  const account = await store.findAccount(accountId);
  if (account === null) throw unknownAccount(accountId);
  const apiKeys = await store.listApiKeys(accountId);
  return { account, apiKeys, recipients: await store.listRecipients(accountId) };
}

/** Returns the reason of a suspension; null for an account that is not suspended. */
function reasonOf({ suspendedMs, change }: AccountRecord): string | null {
  if (suspendedMs === null || change === null) return null;
  const { reason } = detailsOf(change.details);
  return typeof reason === 'string' ? reason : null;
}

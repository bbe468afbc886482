/** `phm recipient add|list|remove`: registers public keys under names, to which an account may seal keys. */

import type { Command } from 'commander';
import { CommandError, writeJson, writeTable } from '#platform/commands';
import { formatTimestamp } from '../../clock.ts';
import type { RecipientRecord } from '../../ledger/index.ts';
import { readRecipient, thumbprintText } from '../client/recipient-file.ts';
import { addRecipientNewCommand } from '../client/recipient-new.ts';
import { addRecipientShowCommand } from '../client/recipient-show.ts';
import type { CliContext } from '../context.ts';
import { auditOf } from './audit-record.ts';
import { requireAccount, whyRefused } from './known-account.ts';
import { withStore, withStoreToRead } from './with-store.ts';

/** Names as requests give them. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const ADD_HELP = `
Then "seal_to": { "recipient": NAME } in a request, or phm generate --recipient NAME, seals keys to this public key, for
callers of this account only. No request names another key by mistake, and no proxy can swap it.

Example:
  phm recipient add backup --account acct_4d8f --public-key backup.recipient
`;

export function addRecipientCommands(program: Command, context: CliContext): void {
  const recipient = program
    .command('recipient')
    .description('generate key pairs for sealed keys, and register public keys for accounts');
  addRecipientNewCommand(recipient, context);
  addRecipientShowCommand(recipient, context);
  recipient
    .command('add')
    .argument('<name>', "name for requests: letters, digits, '.', '_' and '-'")
    .description('register the public key of a recipient for an account')
    .requiredOption('--account <account>', 'account ID, from "phm account list"')
    .requiredOption('--public-key <file>', 'public file of "phm recipient new"')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', ADD_HELP)
    .action((name: string, options: AddOptions) => add(context, name, options));
  recipient
    .command('list')
    .description('list registered recipients')
    .option('--account <account>', 'list only the recipients of this account')
    .option('--json', 'write the result as JSON')
    .action((options: ListOptions) => list(context, options));
  recipient
    .command('remove')
    .argument('<name>', 'name from "phm recipient list"')
    .description('remove a registered recipient; its sealed keys still open')
    .requiredOption('--account <account>', 'account ID')
    .option('--json', 'write the result as JSON')
    .action((name: string, options: RemoveOptions) => remove(context, name, options));
}

interface AddOptions {
  readonly account: string;
  readonly publicKey: string;
  readonly json?: boolean;
}

async function add(context: CliContext, name: string, options: AddOptions): Promise<void> {
  if (!NAME.test(name)) {
    throw new CommandError(
      "a name has 1 to 64 letters, digits, '.', '_' and '-', and starts with a letter or digit",
      2,
    );
  }
  const { account: accountId, publicKey: file } = options;
  const { suite, publicKey } = readRecipient(file);
  const thumbprint = await thumbprintText(publicKey);
  const createdMs = Date.now();
  const outcome = await withStore(context, async (store, config) => {
    const audit = await auditOf(store, config, {
      atMs: createdMs,
      action: 'recipient_added',
      details: { account_id: accountId, name, suite, thumbprint },
    });
    const added = await store.addRecipient({ accountId, name, suite, publicKey, createdMs }, audit);
    if (added === 'unknown_account') throw await whyRefused(store, accountId);
    return added;
  });
  if (outcome === 'taken') {
    throw new CommandError(
      `account ${accountId} has a recipient ${name} already: remove it first, or choose another name`,
      1,
    );
  }
  if (options.json) {
    writeJson(context, {
      account_id: accountId,
      name,
      suite,
      thumbprint,
      created_at: formatTimestamp(createdMs),
    });
  } else {
    context.err(`Registered ${name}, ${suite}, with the thumbprint ${thumbprint}\n`);
  }
}

interface ListOptions {
  readonly account?: string;
  readonly json?: boolean;
}

async function list(context: CliContext, { account, json }: ListOptions): Promise<void> {
  const recipients = await withStoreToRead(context, async (store) => {
    await requireAccount(store, account);
    return store.listRecipients(account);
  });
  const rows = await Promise.all(recipients.map(toRow));
  if (json) {
    writeJson(context, { recipients: rows });
    return;
  }
  writeTable(
    context,
    ['NAME', 'ACCOUNT', 'SUITE', 'CREATED', 'THUMBPRINT'],
    rows.map((row) => [row.name, row.account_id, row.suite, row.created_at, row.thumbprint]),
  );
}

async function toRow({ accountId, name, suite, publicKey, createdMs }: RecipientRecord) {
  return {
    account_id: accountId,
    name,
    suite,
    thumbprint: await thumbprintText(publicKey),
    created_at: formatTimestamp(createdMs),
  };
}

interface RemoveOptions {
  readonly account: string;
  readonly json?: boolean;
}

async function remove(
  context: CliContext,
  name: string,
  { account: accountId, json }: RemoveOptions,
): Promise<void> {
  const removed = await withStore(context, async (store, config) => {
    await requireAccount(store, accountId);
    const audit = await auditOf(store, config, {
      atMs: Date.now(),
      action: 'recipient_removed',
      details: { account_id: accountId, name },
    });
    return store.removeRecipient(accountId, name, audit);
  });
  if (!removed) {
    throw new CommandError(
      `account ${accountId} has no recipient ${name}. To list them: phm recipient list`,
      1,
    );
  }
  if (json) writeJson(context, { account_id: accountId, name });
  else context.err(`Removed ${name}. Keys that are sealed to it still open.\n`);
}

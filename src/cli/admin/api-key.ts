/** `phm key`: the API keys of accounts. An API key is shown once, when it is issued. */
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { apiKeyHint, hashApiKey, isWellFormedApiKey, newApiKey } from '../../accounts/index.ts';
import { formatTimestamp } from '../../clock.ts';
import type { Config } from '../../config/index.ts';
import { commandLine } from '../../launcher.ts';
import type { LedgerStore } from '../../ledger/index.ts';
import { CommandError } from '../command-error.ts';
import { type CliContext, writeJson, writeTable } from '../context.ts';
import { exportUrl } from '../server-address.ts';
import { withStore, withStoreToRead } from './with-store.ts';

export function addApiKeyCommands(program: Command, context: CliContext): void {
  const key = program.command('key').description('issue, list and revoke API keys');
  key
    .command('issue')
    .description('issue an API key; it is shown once and valid at once')
    .requiredOption('--account <account>', 'account id, from "phm account list"')
    .option('--json', 'write the result as JSON')
    .action((options) => issue(context, options));
  key
    .command('list')
    .description('list API keys, without the keys themselves')
    .option('--account <account>', 'only this account')
    .option('--json', 'write the result as JSON')
    .action((options) => list(context, options));
  key
    .command('revoke')
    .argument(
      '<id>',
      'id of the API key, from "phm key list"; - reads the API key from standard input',
    )
    .description('revoke an API key; servers refuse it within 2 seconds')
    .option('--json', 'write the result as JSON')
    .action((given, options) => revoke(context, given, options));
}

async function issue(
  context: CliContext,
  options: { account: string; json?: boolean },
): Promise<void> {
  const apiKey = newApiKey('live');
  const apiKeyId = `key_${randomUUID().replaceAll('-', '')}`;
  const record = {
    apiKeyId,
    accountId: options.account,
    hint: apiKeyHint(apiKey),
    createdMs: Date.now(),
    revokedMs: null,
  };
  const config = await withStore(context, async (store, config) => {
    if (await store.addApiKey(record, hashApiKey(apiKey))) return config;
    throw unknownAccount(options.account);
  });
  const result = { api_key: apiKey, api_key_id: apiKeyId, account_id: options.account };
  await show(context, apiKeyId, options.json ? JSON.stringify(result) : apiKey);
  if (options.json) return;
  context.err(`Issued ${apiKeyId}. The key is shown this once: store it now.\n`);
  context.err(nextStep(context, config, apiKey));
}

/** Writes the line with the API key. Throws `CommandError` when it cannot be written. */
async function show(context: CliContext, apiKeyId: string, line: string): Promise<void> {
  try {
    await context.outBytes(Buffer.from(`${line}\n`));
  } catch {
    throw new CommandError(
      `the output cannot be written\nThe API key ${apiKeyId} is valid, and was not shown. Revoke it and issue another: ` +
        commandLine(context, `key revoke ${apiKeyId}`),
      1,
    );
  }
}

/**
 * The lines that make the client commands use the key, and call this server unless they are told another. They hold
 * the key only where standard output shows it too: a script that captures standard output may send standard error
 * to a log.
 */
function nextStep({ env, outputIsShared }: CliContext, config: Config, apiKey: string): string {
  const value = outputIsShared() ? apiKey : '<the key from standard output>';
  const url = env.PHM_URL?.trim() ? null : exportUrl(config);
  const lines = [...(url === null ? [] : [url]), `export PHM_API_KEY=${value}`];
  return `Next, for generate, validate and metrics:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

async function list(
  context: CliContext,
  options: { account?: string; json?: boolean },
): Promise<void> {
  const keys = await withStoreToRead(context, async (store) => {
    await requireAccount(store, options.account);
    return store.listApiKeys(options.account);
  });
  const rows = keys.map((record) => ({
    api_key_id: record.apiKeyId,
    account_id: record.accountId,
    hint: record.hint,
    created_at: formatTimestamp(record.createdMs),
    revoked_at: record.revokedMs === null ? null : formatTimestamp(record.revokedMs),
  }));
  if (options.json) {
    writeJson(context, { api_keys: rows });
    return;
  }
  writeTable(
    context,
    ['API KEY', 'ACCOUNT', 'HINT', 'CREATED', 'REVOKED'],
    rows.map((row) => [
      row.api_key_id,
      row.account_id,
      row.hint,
      row.created_at,
      row.revoked_at ?? '-',
    ]),
  );
}

async function revoke(
  context: CliContext,
  given: string,
  options: { json?: boolean },
): Promise<void> {
  if (/phmsk_/i.test(given)) {
    throw new CommandError(
      'an API key on the command line can be read by every user of this machine: give its id, or - and ' +
        'the key on standard input. To list the ids: phm key list',
      2,
    );
  }
  const apiKey = given === '-' ? await readApiKey(context) : null;
  const nowMs = Date.now();
  const record = await withStore(context, async (store) => {
    const id = apiKey === null ? given : await findApiKeyId(store, apiKey, nowMs);
    if (id === undefined || !(await store.revokeApiKey(id, nowMs))) return undefined;
    return (await store.listApiKeys()).find(({ apiKeyId }) => apiKeyId === id);
  });
  if (!record)
    throw new CommandError('there is no such active API key. To list them: phm key list', 1);
  if (options.json) {
    // Of a key that was revoked before, the first time counts.
    const revokedAt = formatTimestamp(record.revokedMs ?? nowMs);
    writeJson(context, { api_key_id: record.apiKeyId, revoked_at: revokedAt });
  } else {
    context.err(`Revoked ${record.apiKeyId}. Running servers refuse it within 2 seconds.\n`);
  }
}

async function requireAccount(store: LedgerStore, accountId: string | undefined): Promise<void> {
  if (accountId === undefined) return;
  const accounts = await store.listAccounts();
  if (accounts.some((account) => account.accountId === accountId)) return;
  throw unknownAccount(accountId);
}

function unknownAccount(accountId: string): CommandError {
  return new CommandError(`there is no account ${accountId}. To list them: phm account list`, 1);
}

async function readApiKey({ err }: CliContext): Promise<string> {
  if (process.stdin.isTTY) err('Paste the API key, then press Enter and Ctrl-D.\n');
  const apiKey = (await text(process.stdin)).trim();
  if (isWellFormedApiKey(apiKey)) return apiKey;
  throw new CommandError('standard input holds no API key: check for typing errors', 2);
}

async function findApiKeyId(
  store: LedgerStore,
  apiKey: string,
  nowMs: number,
): Promise<string | undefined> {
  const [principal] = await store.authenticate([hashApiKey(apiKey)], nowMs);
  return principal?.apiKeyId;
}

/** `phm key`: manages the API keys of accounts. An API key is shown only when it is issued. */
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
import { auditOf } from './audit-record.ts';
import { requireAccount, unknownAccount } from './known-account.ts';
import { withStore, withStoreToRead } from './with-store.ts';

export function addApiKeyCommands(program: Command, context: CliContext): void {
  const key = program.command('key').description('issue, list and revoke API keys');
  key
    .command('issue')
    .description('issue an API key; it is shown only once and works immediately')
    .requiredOption('--account <account>', 'account ID, from "phm account list"')
    .option('--json', 'write the result as JSON')
    .action((options) => issue(context, options));
  key
    .command('list')
    .description('list API keys, without the keys themselves')
    .option('--account <account>', 'list only the API keys of this account')
    .option('--json', 'write the result as JSON')
    .action((options) => list(context, options));
  key
    .command('revoke')
    .argument(
      '<id>',
      'ID of the API key, from "phm key list"; - reads the API key from standard input',
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
    const { accountId, hint, createdMs } = record;
    const audit = await auditOf(store, config, {
      atMs: createdMs,
      action: 'api_key_issued',
      details: { api_key_id: apiKeyId, account_id: accountId, hint },
    });
    if (await store.addApiKey(record, hashApiKey(apiKey), audit)) return config;
    throw unknownAccount(options.account);
  });
  const result = { api_key: apiKey, api_key_id: apiKeyId, account_id: options.account };
  await show(context, apiKeyId, options.json ? JSON.stringify(result) : apiKey);
  if (options.json) return;
  context.err(`Issued ${apiKeyId}. The API key is shown only once: store it now.\n`);
  context.err(nextStep(context, config, apiKey));
}

/** Writes the line with the API key. Throws `CommandError` if it cannot be written. */
async function show(context: CliContext, apiKeyId: string, line: string): Promise<void> {
  try {
    await context.outBytes(Buffer.from(`${line}\n`));
  } catch {
    throw new CommandError(
      `the output cannot be written\nThe API key ${apiKeyId} is valid but was not shown. Revoke it and issue another: ` +
        commandLine(context, `key revoke ${apiKeyId}`),
      1,
    );
  }
}

/**
 * Returns the lines that set up the client commands: the API key, and the address of this server unless `PHM_URL` is
 * set. They contain the API key only if standard output goes to the same place, because a script that captures
 * standard output may send standard error to a log.
 */
function nextStep({ env, outputIsShared }: CliContext, config: Config, apiKey: string): string {
  const value = outputIsShared() ? apiKey : '<the API key from standard output>';
  const url = env.PHM_URL?.trim() ? null : exportUrl(config);
  const lines = [...(url === null ? [] : [url]), `export PHM_API_KEY=${value}`];
  return `To use it with phm:\n${lines.map((line) => `  ${line}\n`).join('')}`;
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
      'every user of this machine can read an API key on the command line: use its ID, or - and ' +
        'the API key on standard input. To list the IDs: phm key list',
      2,
    );
  }
  const apiKey = given === '-' ? await readApiKey(context) : null;
  const nowMs = Date.now();
  const record = await withStore(context, async (store, config) => {
    const id = apiKey === null ? given : await findApiKeyId(store, apiKey, nowMs);
    if (id === undefined) return undefined;
    const audit = await auditOf(store, config, {
      atMs: nowMs,
      action: 'api_key_revoked',
      details: { api_key_id: id },
    });
    if (!(await store.revokeApiKey(id, nowMs, audit))) return undefined;
    return (await store.listApiKeys()).find(({ apiKeyId }) => apiKeyId === id);
  });
  if (!record)
    throw new CommandError('there is no such active API key. To list them: phm key list', 1);
  if (options.json) {
    // If the API key was revoked before, the first time counts.
    const revokedAt = formatTimestamp(record.revokedMs ?? nowMs);
    writeJson(context, { api_key_id: record.apiKeyId, revoked_at: revokedAt });
  } else {
    context.err(`Revoked ${record.apiKeyId}. Running servers refuse it within 2 seconds.\n`);
  }
}

async function readApiKey({ err }: CliContext): Promise<string> {
  if (process.stdin.isTTY) err('Paste the API key, then press Enter and Ctrl-D.\n');
  const apiKey = (await text(process.stdin)).trim();
  if (isWellFormedApiKey(apiKey)) return apiKey;
  throw new CommandError('standard input contains no valid API key: check it for typing errors', 2);
}

async function findApiKeyId(
  store: LedgerStore,
  apiKey: string,
  nowMs: number,
): Promise<string | undefined> {
  const [principal] = await store.authenticate([hashApiKey(apiKey)], nowMs);
  return principal?.apiKeyId;
}

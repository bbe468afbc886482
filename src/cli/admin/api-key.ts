/** `phm api-key`: manages the API keys of accounts. An API key is shown only when it is issued or replaces another. */

import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { CommandError, writeJson, writeTable } from '#platform/commands';
import {
  apiKeyHint,
  DEMO_ACCOUNTS,
  hashApiKey,
  isWellFormedApiKey,
  newApiKey,
} from '../../accounts/index.ts';
import { formatTimestamp } from '../../clock.ts';
import type { Config } from '../../config/index.ts';
import type { ApiKeyRecord, LedgerStore } from '../../ledger/index.ts';
import { commandLine } from '../../process/launcher.ts';
import { type CliContext, requireReader } from '../context.ts';
import { exportUrl } from '../server-address.ts';
import { addRotateCommand } from './api-key-rotate.ts';
import {
  API_KEY_HEADING,
  type ApiKeyRow,
  addExpiryOptions,
  addSettingOptions,
  apiKeyCells,
  apiKeyRow,
  requireRecipients,
  requireWithinPlan,
  type SettingFlags,
  settingDetails,
  settingsOf,
  WIDE_API_KEY_HEADING,
  wideApiKeyCells,
} from './api-key-settings.ts';
import { auditOf } from './audit-record.ts';
import { newApiKeyId, showApiKey } from './issued-api-key.ts';
import { requireAccount, whyRefused } from './known-account.ts';
import { withStore, withStoreToRead } from './with-store.ts';

export function addApiKeyCommands(program: Command, context: CliContext): void {
  const key = program.command('api-key').description('issue, list, rotate and revoke API keys');
  const issueCommand = key
    .command('issue')
    .description('issue an API key; it is shown only once and works immediately')
    .requiredOption('--account <account>', 'account ID, from "phm account list"');
  addExpiryOptions(addSettingOptions(issueCommand))
    .option('--json', 'write the result as JSON')
    .action((options) => issue(context, options));
  key
    .command('list')
    .description('list API keys, without the keys themselves')
    .option('--account <account>', 'list only the API keys of this account')
    .option('--wide', 'show all columns, and names and account IDs whole')
    .option('--json', 'write the result as JSON')
    .action((options) => list(context, options));
  addRotateCommand(key, context);
  key
    .command('find')
    .argument('<input>', '-: reads the API key from standard input')
    .description('show whose an API key is; it is not shown itself')
    .option('--json', 'write the result as JSON')
    .action((given, options) => find(context, given, options));
  key
    .command('revoke')
    .argument(
      '<id>',
      'ID of the API key, from "phm api-key list"; - reads the API key from standard input',
    )
    .description('revoke an API key; servers refuse it within 2 seconds')
    .option('--json', 'write the result as JSON')
    .action((given, options) => revoke(context, given, options));
}

const SUSPENDED = 'The account is suspended: servers refuse the API key until it is resumed.\n';

async function issue(
  context: CliContext,
  options: SettingFlags & { account: string; json?: boolean },
): Promise<void> {
  requireReader(context);
  const apiKey = newApiKey('live');
  const createdMs = Date.now();
  const settings = settingsOf(options, createdMs);
  const { account: accountId } = options;
  const [apiKeyId, hint] = [newApiKeyId(), apiKeyHint(apiKey)];
  const [config, isSuspended] = await withStore(context, async (store, config) => {
    const account = await store.findAccount(accountId);
    if (!account || account.deletedMs !== null) throw await whyRefused(store, accountId);
    requireWithinPlan(settings, account, config);
    await requireRecipients(store, accountId, settings);
    const audit = await auditOf(store, config, {
      atMs: createdMs,
      action: 'api_key_issued',
      details: { api_key_id: apiKeyId, account_id: accountId, hint, ...settingDetails(settings) },
    });
    const record = { apiKeyId, accountId, hint, createdMs, revokedMs: null, ...settings };
    const isAdded = await store.addApiKey(record, hashApiKey(apiKey), audit);
    if (isAdded) return [config, account.suspendedMs !== null] as const;
    throw await whyRefused(store, accountId);
  });
  const result = { api_key: apiKey, api_key_id: apiKeyId, account_id: accountId };
  const line = options.json ? JSON.stringify(result) : apiKey;
  const revocation = commandLine(context, `api-key revoke ${apiKeyId}`);
  await showApiKey(context, apiKeyId, line, `Revoke it and issue another: ${revocation}`);
  if (options.json) return;
  context.err(`Issued ${apiKeyId}. The API key is shown only once: store it now.\n`);
  if (isSuspended) context.err(SUSPENDED);
  context.err(...nextStep(context, config, apiKey));
}

/**
 * Returns the lines that set up the client commands: the API key, and the address of this server unless `PHM_URL` is
 * set. They contain the API key only if standard output goes to the same place, because a script that captures
 * standard output may send standard error to a log.
 */
function nextStep({ env, outputIsShared }: CliContext, config: Config, apiKey: string): string[] {
  const value = outputIsShared() ? apiKey : '<the API key from standard output>';
  const url = env.PHM_URL?.trim() ? null : exportUrl(config);
  const lines = [...(url === null ? [] : [url]), `export PHM_API_KEY=${value}`];
  return ['To use it with phm:', ...lines.map((line) => `  ${line}`)];
}

async function list(
  context: CliContext,
  options: { account?: string; wide?: boolean; json?: boolean },
): Promise<void> {
  const { records, hasOwn } = await withStoreToRead(context, async (store) => {
    await requireAccount(store, options.account);
    const records = await store.listApiKeys(options.account);
    return { records, hasOwn: await store.hasOwnApiKeys() };
  });
  const rows = rowsOf(records);
  if (options.json) writeJson(context, { api_keys: rows });
  else if (options.wide) writeTable(context, WIDE_API_KEY_HEADING, rows.map(wideApiKeyCells));
  else writeTable(context, API_KEY_HEADING, rows.map(apiKeyCells));
  if (hasOwn && rows.some(isActiveDemoKey)) context.err(DEMO_KEYS_ENDED);
}

/** The setting is that of each server, so the list cannot tell whether one admits them all the same. */
const DEMO_KEYS_ENDED =
  'note: the demo keys ended with the first API key of your own: only a server with PHM_DEMO_KEYS=on accepts them\n';

function isActiveDemoKey({ api_key_id: id, state }: ApiKeyRow): boolean {
  return state === 'active' && DEMO_ACCOUNTS.some(({ apiKeyId }) => apiKeyId === id);
}

/** Shows the record of an API key that standard input holds. */
async function find(
  context: CliContext,
  given: string,
  options: { json?: boolean },
): Promise<void> {
  refuseApiKey(given);
  if (given !== '-') {
    throw new CommandError('use - and give the API key on standard input', 2);
  }
  const keyHash = hashApiKey(await readApiKey(context));
  const record = await withStoreToRead(context, (store) => store.findApiKey(keyHash));
  if (!record) throw new CommandError('the ledger has no such API key', 1);
  const rows = rowsOf([record]);
  if (options.json) writeJson(context, { api_keys: rows });
  else for (const row of rows) writeOne(context, row);
}

/** Writes an API key as rows of name and value. */
function writeOne(context: CliContext, row: ApiKeyRow): void {
  const [id = '', ...cells] = wideApiKeyCells(row);
  const names = WIDE_API_KEY_HEADING.slice(1).map((name) => name.toLowerCase());
  writeTable(
    context,
    [id, ''],
    names.map((name, i) => [name, cells[i] ?? '']),
  );
}

function rowsOf(records: readonly ApiKeyRecord[]): ApiKeyRow[] {
  const nowMs = Date.now();
  return records.map((record) => apiKeyRow(record, nowMs));
}

async function revoke(
  context: CliContext,
  given: string,
  options: { json?: boolean },
): Promise<void> {
  refuseApiKey(given);
  const apiKey = given === '-' ? await readApiKey(context) : null;
  const nowMs = Date.now();
  const record = await withStore(context, async (store, config) => {
    const id = apiKey === null ? given : await findApiKeyId(store, apiKey);
    if (id === undefined) return undefined;
    const audit = await auditOf(store, config, {
      atMs: nowMs,
      action: 'api_key_revoked',
      details: { api_key_id: id },
    });
    if (!(await store.revokeApiKey(id, nowMs, audit))) return undefined;
    return store.findApiKeyById(id);
  });
  if (!record)
    throw new CommandError('there is no such API key. To list them: phm api-key list', 1);
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

async function findApiKeyId(store: LedgerStore, apiKey: string): Promise<string | undefined> {
  return (await store.findApiKey(hashApiKey(apiKey)))?.apiKeyId;
}

function refuseApiKey(given: string): void {
  if (!/phmsk_/i.test(given)) return;
  throw new CommandError(
    'every user of this machine can read an API key on the command line: use its ID, or - and ' +
      'the API key on standard input. To list the IDs: phm api-key list',
    2,
  );
}

/** `phm api-key rotate`: replaces an API key by a new one with the same settings. */

import { type Command, Option } from 'commander';
import { CommandError } from '#platform/commands';
import { apiKeyHint, hashApiKey, newApiKey } from '../../accounts/index.ts';
import { formatTimestamp } from '../../clock.ts';
import type { ApiKeyRecord, LedgerStore } from '../../ledger/index.ts';
import { commandLine } from '../../process/launcher.ts';
import { type CliContext, requireReader } from '../context.ts';
import { parseDuration } from '../parse-duration.ts';
import { addExpiryOptions, apiKeyRow, type ExpiryFlags, expiryOf } from './api-key-settings.ts';
import { auditOf } from './audit-record.ts';
import { newApiKeyId, showApiKey } from './issued-api-key.ts';
import { deletedAccount } from './known-account.ts';
import { withStore } from './with-store.ts';

interface RotateFlags extends ExpiryFlags {
  readonly overlap: number;
  readonly json?: boolean;
}

export function addRotateCommand(key: Command, context: CliContext): void {
  const overlap = parseDuration('--overlap');
  const rotate = key
    .command('rotate')
    .argument('<id>', 'ID of the API key, from "phm api-key list"')
    .description('replace an API key by a new one with the same settings, which is shown once')
    .addOption(
      new Option(
        '--overlap <time>',
        'time for which the old API key still works, such as 7d; 0: none',
      )
        .argParser((text: string, given?: number) => (text === '0' ? 0 : overlap(text, given)))
        .makeOptionMandatory(),
    );
  addExpiryOptions(rotate)
    .option('--json', 'write the result as JSON')
    .action((id, flags) => runRotate(context, id, flags));
}

async function runRotate(context: CliContext, id: string, flags: RotateFlags): Promise<void> {
  requireReader(context);
  const apiKey = newApiKey('live');
  const next = { apiKeyId: newApiKeyId(), hint: apiKeyHint(apiKey) };
  const atMs = Date.now();
  const expiresMs = expiryOf(flags, atMs);
  const untilMs = atMs + flags.overlap;
  const old = await withStore(context, async (store, config) => {
    const before = await requireRotatable(context, store, id, atMs);
    const endMs = Math.min(untilMs, before.expiresMs ?? untilMs);
    const audit = await auditOf(store, config, {
      atMs,
      action: 'api_key_rotated',
      details: {
        api_key_id: id,
        replaced_by: next.apiKeyId,
        hint: next.hint,
        until: formatTimestamp(endMs),
        ...(expiresMs !== undefined && { expires_at: formatTimestamp(expiresMs) }),
      },
    });
    const keyHash = hashApiKey(apiKey);
    const rotation = { apiKeyId: id, next, keyHash, atMs, untilMs, expiresMs };
    const outcome = await store.rotateApiKey(rotation, audit);
    if (outcome === 'rotated') return { ...before, endMs };
    // Another command was faster: the reason is in the ledger.
    await requireRotatable(context, store, id, atMs);
    throw new CommandError(`another command has changed ${id}: try again`, 1);
  });
  const endsAt = formatTimestamp(old.endMs);
  const result = {
    ...{ api_key: apiKey, api_key_id: next.apiKeyId, account_id: old.accountId },
    ...{ replaces: id, replaced_ends_at: endsAt },
  };
  const line = flags.json ? JSON.stringify(result) : apiKey;
  const again = commandLine(context, `api-key rotate ${next.apiKeyId} --overlap 0`);
  await showApiKey(context, next.apiKeyId, line, `Replace it by another: ${again}`);
  if (flags.json) return;
  const end = old.endMs <= atMs ? 'is refused within 2 seconds' : `works until ${endsAt}`;
  context.err(
    `Issued ${next.apiKeyId}, which replaces ${id}. The API key is shown only once: store it now.`,
    `The old API key ${end}.\n`,
  );
}

/** Returns the API key. Throws `CommandError` with the reason if it cannot be rotated. */
async function requireRotatable(
  context: CliContext,
  store: LedgerStore,
  id: string,
  nowMs: number,
): Promise<ApiKeyRecord> {
  const record = await store.findApiKeyById(id);
  if (!record)
    throw new CommandError('there is no such API key. To list them: phm api-key list', 1);
  if (record.replacedBy !== null) {
    const command = commandLine(context, `api-key rotate ${record.replacedBy}`);
    throw new CommandError(
      `${id} was replaced by ${record.replacedBy} already. To rotate that one: ${command}`,
      1,
    );
  }
  const account = await store.findAccount(record.accountId);
  if (account?.deletedMs) throw deletedAccount(record.accountId);
  const { state } = apiKeyRow(record, nowMs);
  if (state === 'active') return record;
  const command = commandLine(context, `api-key issue --account ${record.accountId}`);
  throw new CommandError(`${id} is ${state}. To issue another: ${command}`, 1);
}

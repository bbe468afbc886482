/** `phm keys`: lists, shows and revokes keys of the account on a running service. */

import { type Command, Option } from 'commander';
import { parseCountTo, writeJson, writeTable } from '#platform/commands';
import type { KeyInfo, KeyListQuery } from '../../../sdk/src/index.ts';
import { KEY_STATUSES, SECURITY_LEVELS } from '../../keys/terms.ts';
import type { CliContext } from '../context.ts';
import { addConnectionOptions, Connection, type ConnectionFlags } from './connection.ts';
import { assertKeyId } from './key-id.ts';
import { writeKey } from './key-record.ts';
import { addSelectionOptions, type SelectionFlags, selectionQuery } from './key-selection.ts';
import { addRevoke } from './keys-revoke.ts';
import { labelsText } from './labels.ts';

const GROUP_HELP = `
These are the keys that "phm generate" gets. API keys have a command of their own: phm api-key.
`;

const LIST_HELP = `
The list is newest first, and has the keys that meet all options. It shows what the service recorded about each key: the
service stores no keys. A TIME is a day, which starts at midnight UTC, or a time with its offset.
Exit code: 0 the list was written, 1 failed, 2 wrong usage.

Examples:
  phm keys list
  phm keys list --label env=prod --status active --limit 1000
  phm keys list --created-after 2026-11-20 --created-before 2026-11-20T14:00Z --json
`;

const SHOW_HELP = `
Exit code: 0 the record was written, 1 failed, also if the account has no such key, 2 wrong usage.

Example:
  phm keys show phm_2170447811675921486708632360111591537
`;

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100_000;

/** Largest page that the service answers. */
const MAX_PAGE = 100;

interface ListFlags extends ConnectionFlags, SelectionFlags {
  readonly limit: number;
  readonly status?: KeyInfo['status'];
  readonly level?: string;
  readonly source?: string;
  readonly evidence?: 'PASS' | 'none';
  readonly json?: boolean;
}

interface ShowFlags extends ConnectionFlags {
  readonly json?: boolean;
}

export function addKeysCommands(program: Command, context: CliContext): void {
  const keys = program
    .command('keys')
    .description('list, show and revoke keys of your account on a running service')
    .addHelpText('after', GROUP_HELP);
  addList(keys, context);
  const show = keys
    .command('show')
    .argument('<key_id>', 'ID of the key: phm_ and a number')
    .description('show what the service knows about a key')
    .option('--json', 'write the record as JSON');
  addConnectionOptions(show, SHOW_HELP).action((keyId: string, flags: ShowFlags) =>
    showKey(context, keyId, flags),
  );
  addRevoke(keys, context);
}

function addList(keys: Command, context: CliContext): void {
  const list = keys
    .command('list')
    .description('list the keys of your account, newest first')
    .option('--limit <n>', 'number of keys at most', parseCountTo(MAX_LIMIT), DEFAULT_LIMIT);
  addSelectionOptions(list)
    .addOption(new Option('--status <status>', 'keys in this state').choices(KEY_STATUSES))
    .addOption(
      new Option('--level <bits>', 'keys of this length').choices(SECURITY_LEVELS.map(String)),
    )
    .option('--source <name>', 'keys with this entropy source')
    .addOption(
      new Option('--evidence <verdict>', 'PASS: validated keys; none: plain keys').choices([
        'PASS',
        'none',
      ]),
    )
    .option('--json', 'write one record a line as JSON');
  addConnectionOptions(list, LIST_HELP).action((flags: ListFlags) => listKeys(context, flags));
}

async function listKeys(context: CliContext, flags: ListFlags): Promise<void> {
  const query = toQuery(flags);
  const connection = new Connection(context, flags);
  const { keys, isAll } = await connection.ask((phm, signal) =>
    readKeys(phm.listKeys(query, { signal }), flags.limit),
  );
  if (flags.json) for (const key of keys) writeJson(context, key);
  else writeKeys(context, keys);
  if (keys.length === 0) context.err('No keys found.\n');
  if (!isAll) context.err(`There are more keys: --limit ${flags.limit} ends the list here.\n`);
}

/** Reads as many keys as the options ask for, and one more to learn whether there are others. */
async function readKeys(
  found: AsyncIterable<KeyInfo>,
  limit: number,
): Promise<{ keys: KeyInfo[]; isAll: boolean }> {
  const keys: KeyInfo[] = [];
  for await (const key of found) {
    if (keys.length === limit) return { keys, isAll: false };
    keys.push(key);
  }
  return { keys, isAll: true };
}

function writeKeys(context: CliContext, keys: readonly KeyInfo[]): void {
  const rows = keys.map((key) => [
    key.key_id,
    key.created_at,
    String(key.security_level),
    key.evidence?.verdict ?? '',
    key.status,
    labelsText(key.labels),
  ]);
  writeTable(context, ['KEY', 'CREATED', 'BITS', 'EVIDENCE', 'STATUS', 'LABELS'], rows);
}

/** Throws `CommandError` if no key can meet the options. */
function toQuery(flags: ListFlags): KeyListQuery {
  const { status, level, source, evidence } = flags;
  return {
    ...selectionQuery(flags),
    limit: Math.min(flags.limit + 1, MAX_PAGE),
    ...(status && { status }),
    // Commander has checked the choices.
    ...(level && { security_level: Number(level) as KeyInfo['security_level'] }),
    ...(source && { source }),
    ...(evidence && { evidence }),
  };
}

async function showKey(context: CliContext, keyId: string, flags: ShowFlags): Promise<void> {
  assertKeyId(keyId);
  const connection = new Connection(context, flags);
  const { key } = await connection.ask((phm, signal) => phm.getKey(keyId, { signal }));
  writeKey(context, key, flags.json ?? false);
}

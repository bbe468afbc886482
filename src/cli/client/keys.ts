/** `phm keys`: lists, shows and revokes keys of the account on a running service. */
import { type Command, Option } from 'commander';
import type { KeyInfo, KeyListQuery, PhmClient, RevocationReason } from '../../../sdk/src/index.ts';
import { KEY_STATUSES, SECURITY_LEVELS } from '../../keys/index.ts';
import { REVOCATION_REASONS } from '../../ledger/index.ts';
import { CommandError } from '../command-error.ts';
import { type CliContext, writeJson, writeTable } from '../context.ts';
import { parseCountTo } from '../parse-count.ts';
import { anyTime } from '../parse-time.ts';
import { addConnectionOptions, Connection, type ConnectionFlags } from './connection.ts';
import { assertKeyId } from './key-id.ts';
import { collectLabel, type Labels, labelsText } from './labels.ts';

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

const REVOKE_HELP = `
From then on "phm validate" calls the key invalid, on every server. It cannot be undone. key_compromise makes the key
compromised; every other reason makes an active key deactivated. A repeated command changes nothing. Holders of the key
are not told, and what is encrypted with it stays so: docs/guides/revoke-a-key.md.
Exit code: 0 the key is revoked, 1 failed, also if the account has no such key, 2 wrong usage.

Example:
  phm keys revoke phm_2170447811675921486708632360111591537 --reason key_compromise
`;

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100_000;

/** Largest page that the service answers. */
const MAX_PAGE = 100;

interface ListFlags extends ConnectionFlags {
  readonly limit: number;
  readonly label?: Labels;
  readonly status?: KeyInfo['status'];
  readonly createdAfter?: number;
  readonly createdBefore?: number;
  readonly level?: string;
  readonly source?: string;
  readonly evidence?: 'PASS' | 'none';
  readonly apiKey?: string;
  readonly json?: boolean;
}

interface OneFlags extends ConnectionFlags {
  readonly json?: boolean;
}

interface RevokeFlags extends OneFlags {
  readonly reason: RevocationReason;
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
  addConnectionOptions(show, SHOW_HELP).action((keyId: string, flags: OneFlags) =>
    showKey(context, keyId, flags),
  );
  const revoke = keys
    .command('revoke')
    .argument('<key_id>', 'ID of the key: phm_ and a number')
    .description('revoke a key, permanently')
    .addOption(
      new Option('--reason <reason>', 'why').choices(REVOCATION_REASONS).makeOptionMandatory(),
    )
    .option('--json', 'write the record as JSON');
  addConnectionOptions(revoke, REVOKE_HELP).action((keyId: string, flags: RevokeFlags) =>
    revokeKey(context, keyId, flags),
  );
}

function addList(keys: Command, context: CliContext): void {
  const list = keys
    .command('list')
    .description('list the keys of your account, newest first')
    .option('--limit <n>', 'number of keys at most', parseCountTo(MAX_LIMIT), DEFAULT_LIMIT)
    .option('--label <name=value>', 'keys with this label; repeat it for several', collectLabel)
    .addOption(new Option('--status <status>', 'keys in this state').choices(KEY_STATUSES))
    .option(
      '--created-after <time>',
      'keys of this TIME or later, such as 2026-11-20T14:00Z',
      anyTime('--created-after'),
    )
    .option('--created-before <time>', 'keys before this TIME', anyTime('--created-before'))
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
    .option('--api-key <id>', 'keys that this API key asked for: its ID, never the API key')
    .option('--json', 'write one record a line as JSON');
  addConnectionOptions(list, LIST_HELP).action((flags: ListFlags) => listKeys(context, flags));
}

async function listKeys(context: CliContext, flags: ListFlags): Promise<void> {
  const { createdAfter = -Infinity, createdBefore = Infinity } = flags;
  if (createdBefore < createdAfter) {
    throw new CommandError('--created-before must not be earlier than --created-after', 2);
  }
  const connection = new Connection(context, flags);
  const { keys, isAll } = await connection.ask((phm, signal) => readKeys(phm, signal, flags));
  if (flags.json) for (const key of keys) writeJson(context, key);
  else writeKeys(context, keys);
  if (keys.length === 0) context.err('No keys found.\n');
  if (!isAll) context.err(`There are more keys: --limit ${flags.limit} ends the list here.\n`);
}

/** Reads as many keys as the options ask for, and one more to learn whether there are others. */
async function readKeys(
  phm: PhmClient,
  signal: AbortSignal,
  flags: ListFlags,
): Promise<{ keys: KeyInfo[]; isAll: boolean }> {
  const keys: KeyInfo[] = [];
  for await (const key of phm.listKeys(toQuery(flags), { signal })) {
    if (keys.length === flags.limit) return { keys, isAll: false };
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

function toQuery(flags: ListFlags): KeyListQuery {
  const { label, status, createdAfter, createdBefore, level, source, evidence, apiKey } = flags;
  return {
    limit: Math.min(flags.limit + 1, MAX_PAGE),
    ...(label && { label: Object.entries(label).map(([name, value]) => `${name}:${value}`) }),
    ...(status && { status }),
    ...(createdAfter !== undefined && { created_after: new Date(createdAfter).toISOString() }),
    ...(createdBefore !== undefined && { created_before: new Date(createdBefore).toISOString() }),
    // Commander has checked the choices.
    ...(level && { security_level: Number(level) as KeyInfo['security_level'] }),
    ...(source && { source }),
    ...(evidence && { evidence }),
    ...(apiKey && { api_key_id: apiKey }),
  };
}

async function showKey(context: CliContext, keyId: string, flags: OneFlags): Promise<void> {
  assertKeyId(keyId);
  const connection = new Connection(context, flags);
  const { key } = await connection.ask((phm, signal) => phm.getKey(keyId, { signal }));
  writeKey(context, key, flags.json ?? false);
}

async function revokeKey(context: CliContext, keyId: string, flags: RevokeFlags): Promise<void> {
  assertKeyId(keyId);
  const connection = new Connection(context, flags);
  const { key } = await connection.ask((phm, signal) =>
    phm.revokeKey(keyId, flags.reason, { signal }),
  );
  if (!flags.json) context.err(`The key is ${key.status}.\n`);
  writeKey(context, key, flags.json ?? false);
}

function writeKey(context: CliContext, key: KeyInfo, asJson: boolean): void {
  if (asJson) {
    writeJson(context, key);
    return;
  }
  const { evidence } = key;
  const rows = [
    ['status', key.status],
    ['created', key.created_at],
    ['length', `${key.security_level} bits`],
    ['entropy source', key.source],
    ['modulation', key.modulation_type],
    [
      'evidence',
      evidence ? `${evidence.tests_passed} of ${evidence.total_tests} tests passed` : 'none',
    ],
    ['API key', key.api_key_id],
    ['sealed to', key.sealed_to ?? 'no one: returned in plaintext'],
    ['labels', labelsText(key.labels) || 'none'],
    ['expires', key.expires_at ?? 'never'],
    ['revoked', key.revoked_at ? `${key.revoked_at}: ${key.revocation_reason}` : 'no'],
    ['receipt', key.receipt_url ? `${context.launcher} receipt get ${key.key_id}` : 'none'],
  ];
  writeTable(context, [key.key_id, ''], rows);
}

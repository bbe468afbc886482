/** The settings of an API key on the command line, in tables, in JSON and in audit records. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { CommandError, parseCount } from '#platform/commands';
import { visible } from '#platform/terminal';
import type { JsonObject } from '#tlog';
import { formatTimestamp, HOUR_MS } from '../../clock.ts';
import { type Config, isFirstAddress, type Plan, parseAddressRange } from '../../config/index.ts';
import {
  type Account,
  type ApiKeyRecord,
  type ApiKeySettings,
  type LedgerStore,
  MAX_ADDRESS_RANGES,
  MAX_API_KEY_NAME,
  MAX_API_KEY_RECIPIENTS,
  SCOPES,
  type Scope,
} from '../../ledger/index.ts';
import { once } from '../once.ts';
import { parseDuration } from '../parse-duration.ts';
import { futureTime } from '../parse-time.ts';

/** The values of `addSettingOptions` and `addExpiryOptions`. */
export interface SettingFlags extends ExpiryFlags {
  readonly name?: string;
  readonly scope?: readonly Scope[];
  readonly allowAddress?: readonly string[];
  readonly recipient?: readonly string[];
  readonly rate?: number;
  readonly burst?: number;
  readonly monthlyLimit?: number;
}

export interface ExpiryFlags {
  readonly expiresIn?: number;
  readonly expiresAt?: number;
}

/** An API key as lists show it. It names no secret. */
export type ApiKeyRow = ReturnType<typeof apiKeyRow>;

export function addSettingOptions(command: Command): Command {
  return command
    .option('--name <name>', 'name to display', once('--name', parseName))
    .addOption(
      new Option('--scope <scope>', 'restrict it to this use; repeat it for more')
        .choices(SCOPES)
        .argParser(addScope),
    )
    .option('--allow-address <range>', 'admit this address or range only; repeat it', addRange)
    .option('--recipient <name>', 'with the scope receive: for this recipient; repeat it', addName)
    .option('--rate <number>', 'requests per second, at most those of the plan', parseRate)
    .option('--burst <count>', 'requests at once, at most those of the plan', parseCount)
    .option('--monthly-limit <count>', 'requests per month, at most those of the plan', parseCount);
}

export function addExpiryOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--expires-in <time>', 'let it expire after a time such as 90d or 12h')
        .argParser(parseDuration('--expires-in'))
        .conflicts('expiresAt'),
    )
    .addOption(
      new Option('--expires-at <time>', 'let it expire at a day or time').argParser(
        futureTime('--expires-at'),
      ),
    );
}

export function settingsOf(flags: SettingFlags, nowMs: number): ApiKeySettings {
  return {
    name: flags.name ?? null,
    scopes: flags.scope ? SCOPES.filter((one) => flags.scope?.includes(one)) : null,
    expiresMs: expiryOf(flags, nowMs) ?? null,
    addressRanges: flags.allowAddress ?? null,
    recipients: recipientsOf(flags),
    ratePerSecond: flags.rate ?? null,
    burst: flags.burst ?? null,
    monthlyLimit: flags.monthlyLimit ?? null,
  };
}

/** Returns the recipients. Throws `CommandError` unless the scope `receive` and recipients are given together. */
function recipientsOf({ scope, recipient }: SettingFlags): readonly string[] | null {
  const receives = scope?.includes('receive') ?? false;
  if (receives === (recipient !== undefined)) return recipient ?? null;
  throw new CommandError(
    receives
      ? 'the scope receive needs --recipient: name the recipients whose copies the API key may fetch'
      : '--recipient needs --scope receive',
    2,
  );
}

/** Throws `CommandError` if the account has no such recipient: a mistyped name would receive nothing. */
export async function requireRecipients(
  store: Pick<LedgerStore, 'findRecipient'>,
  accountId: string,
  { recipients }: ApiKeySettings,
): Promise<void> {
  for (const name of recipients ?? []) {
    if (await store.findRecipient(accountId, name)) continue;
    throw new CommandError(
      `account ${accountId} has no recipient ${name}. To list them: phm recipient list --account ${accountId}`,
      1,
    );
  }
}

/** Returns undefined if no expiry was given. */
export function expiryOf({ expiresIn, expiresAt }: ExpiryFlags, nowMs: number): number | undefined {
  return expiresIn === undefined ? expiresAt : nowMs + expiresIn;
}

/** Throws `CommandError` if a limit exceeds that of the account's plan, or if the configuration lacks the plan. */
export function requireWithinPlan(settings: ApiKeySettings, account: Account, config: Config) {
  const { ratePerSecond, burst, monthlyLimit } = settings;
  if (ratePerSecond === null && burst === null && monthlyLimit === null) return;
  const plan: Plan | undefined = config.plans.get(account.plan);
  if (!plan) {
    throw new CommandError(
      `the limits cannot be compared with the plan "${account.plan}" of the account: set PHM_PLANS_FILE as for the servers`,
      1,
    );
  }
  const limits = [
    ['--rate', ratePerSecond, plan.ratePerSecond],
    ['--burst', burst, plan.burst],
    ['--monthly-limit', monthlyLimit, plan.monthlyQuota],
  ] as const;
  for (const [option, given, most] of limits) {
    if (given === null || most === null || given <= most) continue;
    throw new CommandError(`${option} is above the ${plan.label} plan: use at most ${most}`, 2);
  }
}

/** Returns the settings that are set, as audit records have them. */
export function settingDetails(settings: ApiKeySettings): JsonObject {
  const { name, scopes, expiresMs, addressRanges, recipients } = settings;
  const { ratePerSecond, burst, monthlyLimit } = settings;
  const details: JsonObject = {
    name,
    scopes,
    expires_at: timeOf(expiresMs),
    address_ranges: addressRanges,
    recipients,
    rate_per_second: ratePerSecond,
    burst,
    monthly_limit: monthlyLimit,
  };
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null));
}

export function apiKeyRow(record: ApiKeyRecord, nowMs: number) {
  const { lastUsedHour } = record;
  return {
    api_key_id: record.apiKeyId,
    account_id: record.accountId,
    name: record.name,
    state: stateOf(record, nowMs),
    scopes: record.scopes ?? SCOPES,
    expires_at: timeOf(record.expiresMs),
    address_ranges: record.addressRanges,
    recipients: record.recipients,
    rate_per_second: record.ratePerSecond,
    burst: record.burst,
    monthly_limit: record.monthlyLimit,
    last_used_hour: lastUsedHour === null ? null : formatTimestamp(lastUsedHour * HOUR_MS),
    replaced_by: record.replacedBy,
    hint: record.hint,
    created_at: formatTimestamp(record.createdMs),
    revoked_at: timeOf(record.revokedMs),
  };
}

/** Columns of the list: at most 100 characters with the longest values. */
export const API_KEY_HEADING = ['API KEY', 'ACCOUNT', 'NAME', 'STATE', 'LAST USED', 'EXPIRES'];

export function apiKeyCells(row: ApiKeyRow): string[] {
  const hour = row.last_used_hour?.replace(/:.*/, 'Z');
  return [
    row.api_key_id,
    cut(row.account_id, 10),
    cut(row.name ?? '-', 12),
    row.state,
    hour ?? '-',
    row.expires_at?.replace(/T.*/, '') ?? '-',
  ];
}

/** Columns of `--wide`, and what is shown of one API key. */
export const WIDE_API_KEY_HEADING = [
  ...['API KEY', 'ACCOUNT', 'NAME', 'STATE', 'SCOPES', 'EXPIRES', 'LAST USED', 'LIMITS'],
  ...['ADDRESSES', 'RECIPIENTS', 'REPLACED BY', 'HINT', 'CREATED', 'REVOKED'],
];

export function wideApiKeyCells(row: ApiKeyRow): string[] {
  const limits = [
    row.rate_per_second === null ? [] : `${row.rate_per_second}/s`,
    row.burst === null ? [] : `burst ${row.burst}`,
    row.monthly_limit === null ? [] : `${row.monthly_limit}/month`,
  ].flat();
  return [
    row.api_key_id,
    row.account_id,
    row.name ?? '-',
    row.state,
    row.scopes.length === SCOPES.length ? 'all' : row.scopes.join(','),
    row.expires_at ?? '-',
    row.last_used_hour ?? '-',
    limits.length === 0 ? 'plan' : limits.join(', '),
    row.address_ranges?.join(',') ?? 'all',
    row.recipients?.join(',') ?? 'all',
    row.replaced_by ?? '-',
    row.hint,
    row.created_at,
    row.revoked_at ?? '-',
  ];
}

function cut(text: string, length: number): string {
  const characters = Array.from(visible(text));
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

function stateOf({ revokedMs, expiresMs }: ApiKeyRecord, nowMs: number) {
  if (revokedMs !== null) return 'revoked';
  return expiresMs !== null && expiresMs <= nowMs ? 'expired' : 'active';
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : formatTimestamp(ms);
}

function parseName(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= MAX_API_KEY_NAME && !/\p{Cc}/u.test(name)) return name;
  throw new InvalidArgumentError(`use 1 to ${MAX_API_KEY_NAME} printable characters.`);
}

function addScope(text: string, given: readonly Scope[] = []): readonly Scope[] {
  const scope = SCOPES.find((one) => one === text);
  if (scope) return [...given, scope];
  throw new InvalidArgumentError(`use ${SCOPES.join(', ')}.`);
}

function addRange(text: string, given: readonly string[] = []): readonly string[] {
  const range = parseAddressRange(text);
  if (!range) {
    throw new InvalidArgumentError(
      'use an address (192.0.2.7, 2001:db8::7) or a range (10.0.0.0/8, 2001:db8::/32, with a prefix of at least 1).',
    );
  }
  if (!isFirstAddress(range)) {
    throw new InvalidArgumentError(
      'use the first address of a range (10.0.0.0/8, not 10.0.0.1/8), or one address without a prefix.',
    );
  }
  if (given.length < MAX_ADDRESS_RANGES) return [...given, text];
  throw new InvalidArgumentError(`use at most ${MAX_ADDRESS_RANGES} ranges.`);
}

function addName(name: string, given: readonly string[] = []): readonly string[] {
  if (given.includes(name)) throw new InvalidArgumentError('name each recipient once.');
  if (name === '' || name.includes(','))
    throw new InvalidArgumentError('use the name of a recipient.');
  if (given.length < MAX_API_KEY_RECIPIENTS) return [...given, name];
  throw new InvalidArgumentError(`use at most ${MAX_API_KEY_RECIPIENTS} recipients.`);
}

function parseRate(text: string): number {
  const rate = /^\d{1,7}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (rate > 0) return rate;
  throw new InvalidArgumentError(
    'use a number above 0 and below 10,000,000 with at most three decimals, such as 0.5.',
  );
}

/**
 * API keys and their rules. `test/ledger/api-keys-contract.ts` runs the contract against every store.
 *
 * An API key without rules may do everything that its account may do. Rules are set when it is issued and never change: a
 * rotation copies them. The service judges them at each request, except `monthlyLimit`, which the commit counts.
 */
import { parseAddressRange } from '../config/address-range.ts';
import type { AuditRecord } from './log-store.ts';
import type { Usage } from './usage.ts';

/** What an API key may be used for. */
export const SCOPES = ['generate', 'validate', 'read', 'receive'] as const;
export type Scope = (typeof SCOPES)[number];

/** Most characters of a name, most address ranges, and most recipients. */
export const MAX_API_KEY_NAME = 64;
export const MAX_ADDRESS_RANGES = 16;
export const MAX_API_KEY_RECIPIENTS = 16;

/** What an API key restricts. Null stands for no restriction by the API key. */
interface ApiKeyRestrictions {
  /** In the order of `SCOPES`, at least one. */
  readonly scopes: readonly Scope[] | null;
  /** The API key is refused from this time on. */
  readonly expiresMs: number | null;
  /** Ranges that `parseAddressRange` reads: addresses that may use the API key. */
  readonly addressRanges: readonly string[] | null;
  /** Names of recipients for which the API key may receive, with the scope `receive`. */
  readonly recipients: readonly string[] | null;
  /** Limits below those of the plan. The lower one counts. */
  readonly ratePerSecond: number | null;
  readonly burst: number | null;
}

/** What the operator sets when an API key is issued. */
export interface ApiKeySettings extends ApiKeyRestrictions {
  readonly name: string | null;
  /** Metered requests per UTC calendar month. */
  readonly monthlyLimit: number | null;
}

const NO_SETTINGS: ApiKeySettings = {
  name: null,
  scopes: null,
  expiresMs: null,
  addressRanges: null,
  recipients: null,
  ratePerSecond: null,
  burst: null,
  monthlyLimit: null,
};

/** The monthly limit of an API key, as a request brings it to the commit. */
export interface ApiKeyLimit {
  /** The API key whose row in `api_key_usage` counts: the first one of a chain of rotations. */
  readonly counterId: string;
  readonly limit: number;
}

/** The rules of an API key that has any. */
export interface ApiKeyRules extends ApiKeyRestrictions {
  readonly monthly: ApiKeyLimit | null;
  /** Usage of the monthly limit; null without one. */
  readonly usage: Usage | null;
}

/** What identifies an API key. */
interface ApiKeyIdentity {
  readonly apiKeyId: string;
  readonly accountId: string;
  readonly hint: string;
  readonly createdMs: number;
  readonly revokedMs: number | null;
}

/** A new API key. A setting that is left out restricts nothing. */
export type NewApiKey = ApiKeyIdentity & Partial<ApiKeySettings>;

export interface ApiKeyRecord extends ApiKeyIdentity, ApiKeySettings {
  /** Hours since 1970 of the last use; null if it was never used, or not since the schema has the column. */
  readonly lastUsedHour: number | null;
  /** The API key that followed in a rotation. */
  readonly replacedBy: string | null;
}

/** Replaces an API key by a new one with the same settings. */
export interface Rotation {
  readonly apiKeyId: string;
  readonly next: Pick<ApiKeyIdentity, 'apiKeyId' | 'hint'>;
  readonly keyHash: Uint8Array;
  readonly atMs: number;
  /** The old API key expires then, or earlier if it would have. At `atMs` it is revoked instead. */
  readonly untilMs: number;
  /** Expiry of the new API key; undefined: that of the old one. */
  readonly expiresMs?: number | null | undefined;
}

/** `unusable`: it is revoked, expired or replaced, its account is deleted, or there is none. Nothing was written. */
export type RotationOutcome = 'rotated' | 'unusable';

/** The part of a store for API keys. The methods follow the rule of `AccountStore` for audit records. */
export interface ApiKeyStore {
  /** Adds an API key. Returns false and changes nothing if the ID is taken, or the account is unknown or deleted. */
  addApiKey(record: NewApiKey, keyHash: Uint8Array, audit?: AuditRecord | null): Promise<boolean>;
  /** Returns the API keys of one account, or all. */
  listApiKeys(accountId?: string): Promise<ApiKeyRecord[]>;
  /** Returns the API key with this hash, whatever its state. */
  findApiKey(keyHash: Uint8Array): Promise<ApiKeyRecord | null>;
  /** Returns the API key with this ID, whatever its state. */
  findApiKeyById(apiKeyId: string): Promise<ApiKeyRecord | null>;
  /** Reports whether an API key was ever issued to an account other than the demo accounts. */
  hasOwnApiKeys(): Promise<boolean>;
  /**
   * Revokes an API key by ID. Returns false if there is no such key. A second call keeps the first time.
   */
  revokeApiKey(apiKeyId: string, atMs: number, audit?: AuditRecord | null): Promise<boolean>;
  /** Adds the new API key of a rotation and ends the old one, in one transaction. */
  rotateApiKey(rotation: Rotation, audit?: AuditRecord | null): Promise<RotationOutcome>;
  /** Records that these API keys were used in an hour since 1970. Waits for no lock: it may leave some out. */
  noteApiKeyUses(apiKeyIds: readonly string[], hour: number): Promise<void>;
}

/** The columns of `api_keys` that hold settings, in both stores. */
export const SETTING_COLUMNS = `name, scopes, expires_ms, address_ranges, rate_per_second, burst, monthly_limit, recipients`;

/** Selects what `toApiKeyRecord` reads. Quoted names keep their capitals in PostgreSQL. */
export const SELECT_API_KEYS = `SELECT api_key_id AS "apiKeyId", account_id AS "accountId", hint,
    created_ms AS "createdMs", revoked_ms AS "revokedMs", name, scopes, expires_ms AS "expiresMs",
    address_ranges AS "addressRanges", recipients, rate_per_second AS "ratePerSecond", burst,
    monthly_limit AS "monthlyLimit", last_used_hour AS "lastUsedHour", replaced_by AS "replacedBy"
  FROM api_keys`;

/** What a principal's query selects for `toRules`, from `api_keys` and `api_key_usage`. */
export const RULE_COLUMNS = `api_keys.scopes, api_keys.expires_ms AS "expiresMs",
    api_keys.address_ranges AS "addressRanges", api_keys.recipients, api_keys.rate_per_second AS "ratePerSecond", api_keys.burst,
    api_keys.monthly_limit AS "monthlyLimit", coalesce(api_keys.counter_id, api_keys.api_key_id) AS "counterId",
    coalesce(api_key_usage.used, 0) AS "apiKeyUsed", api_keys.last_used_hour AS "lastUsedHour"`;

type Row = Readonly<Record<string, unknown>>;

/** Returns the values of `SETTING_COLUMNS`. */
export function settingValues(settings: Partial<ApiKeySettings>): (string | number | null)[] {
  const all = { ...NO_SETTINGS, ...settings };
  const { name, scopes, expiresMs, addressRanges, recipients, ratePerSecond, burst } = all;
  const list = (items: readonly string[] | null) => items?.join(',') ?? null;
  return [
    ...[name, list(scopes), expiresMs, list(addressRanges), ratePerSecond, burst],
    ...[all.monthlyLimit, list(recipients)],
  ];
}

export function toApiKeyRecord(row: Row): ApiKeyRecord {
  return {
    ...(row as unknown as ApiKeyRecord),
    scopes: listOf(row.scopes) as readonly Scope[] | null,
    addressRanges: listOf(row.addressRanges),
    recipients: listOf(row.recipients),
  };
}

/** Returns the rules of an API key; null if it has none. `month` is that of the usage. */
export function toRules(row: Row, month: number): ApiKeyRules | null {
  const { scopes, expiresMs, addressRanges, recipients, ratePerSecond, burst, monthlyLimit } = row;
  const all = [scopes, expiresMs, addressRanges, recipients, ratePerSecond, burst, monthlyLimit];
  if (all.every((value) => value === null)) return null;
  const numberOf = (value: unknown) => (value === null ? null : Number(value));
  const limit = numberOf(monthlyLimit);
  const counterId = String(row.counterId);
  return {
    scopes: listOf(scopes) as readonly Scope[] | null,
    expiresMs: numberOf(expiresMs),
    addressRanges: listOf(addressRanges),
    recipients: listOf(recipients),
    ratePerSecond: numberOf(ratePerSecond),
    burst: numberOf(burst),
    monthly: limit === null ? null : { counterId, limit },
    usage: limit === null ? null : { month, used: Number(row.apiKeyUsed), quota: limit, counterId },
  };
}

function listOf(text: unknown): readonly string[] | null {
  return text === null ? null : String(text).split(',');
}

/** Reports whether a text is a list of scopes in the order of `SCOPES`. */
export function isScopeList(text: string): boolean {
  const given = text.split(',');
  return text !== '' && text === SCOPES.filter((scope) => given.includes(scope)).join(',');
}

/** Reports whether a text is a list of different names of recipients. */
export function isRecipientList(text: string): boolean {
  const given = text.split(',');
  const isName = (one: string) => one !== '' && one.length <= 200;
  return (
    given.length <= MAX_API_KEY_RECIPIENTS &&
    new Set(given).size === given.length &&
    given.every(isName)
  );
}

/** Reports whether a text is a list of address ranges. */
export function isRangeList(text: string): boolean {
  const given = text.split(',');
  return given.length <= MAX_ADDRESS_RANGES && given.every((one) => parseAddressRange(one));
}
